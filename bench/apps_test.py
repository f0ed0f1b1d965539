# SPDX-License-Identifier: BSD-3-Clause
"""What bench/apps.py makes of applications: built from a folder, run, read, compared. The application here is a
script."""

import argparse
import os
import sys
import tempfile
import unittest
from pathlib import Path

import apps
from application import Application, Input
from apps import Cell, Row, Sample
from harness import Failed, Progress

SCRIPT = r"#!/bin/sh\necho Time: 2.5 ms\necho Energy = 4.125"


def application(**more):
    words = dict(name="script", source="https://example.org/script", commit="", program="program",
                 timer=r"Time: ([\d.]+)",
                 second=1000, result=r"Energy = ([\d.]+)", inputs=(Input("unbalanced", "", balanced=False),),
                 build=f"printf '{SCRIPT}' > program; chmod +x program")
    return Application(**(words | more))


class Applications(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "script").mkdir()

    def program(self, **more):
        found = application(**more)
        return found.built(found.sources(self.folder, self.folder), "openmpi", "gcc", self.folder / "cache")

    def test_a_source_is_taken_from_the_folder_that_is_named(self):
        self.assertTrue(self.program().exists())
        self.assertFalse((self.folder / "script" / "program").exists(), "it is built in a copy")

    def test_a_source_that_is_missing_is_named(self):
        with self.assertRaisesRegex(Failed, "https://example.org/other"):
            application(name="other", source="https://example.org/other").sources(self.folder, self.folder)

    def test_a_build_that_fails_says_why(self):
        with self.assertRaisesRegex(Failed, "no such compiler"):
            self.program(build="echo no such compiler; false")

    def test_a_package_that_is_missing_is_named(self):
        with self.assertRaisesRegex(Failed, "apt-get install water"):
            application(source="", package="water", program="no-such-program").installed()

    def test_its_own_time_and_its_result_are_read(self):
        self.assertEqual(application().read("Time: 2.5 ms\nEnergy = 4.125"), (0.0025, (4.125,)))
        with self.assertRaisesRegex(Failed, "has no result"):
            application().read("Time: 2.5 ms")

    def test_a_result_may_differ_by_its_tolerance_only(self):
        self.assertEqual("number 1 of 1 is 1, natively 1.0000001", application().difference((1.0,), (1.0000001,)))
        self.assertEqual("", application(tolerance=1e-6).difference((1.0,), (1.0000001,)))
        self.assertEqual("there are 1 numbers, natively 2", application(tolerance=1e-6).difference((1.0,), (1.0, 1.0)))

    def test_a_wrong_result_is_an_error(self):
        results = iter([(1.0,), (2.0,), (2.0,)])
        cell = Cell(application(), application().inputs[0], 1, 1, "openmpi", "gcc")
        options = argparse.Namespace(build=self.folder, sources=self.folder, rounds=1, dlb=None)
        progress = Progress({"cell": 1.0})
        progress.start("cell")
        run, apps.run = apps.run, lambda *words: Sample(1, 1, next(results))
        self.addCleanup(setattr, apps, "run", run)
        with self.assertRaisesRegex(Failed, "another result: number 1 of 1"):
            apps.measured(cell, options, progress)


    def test_a_peer_that_fails_is_shown_as_failing(self):
        cell = Cell(application(), application().inputs[0], 1, 1, "openmpi", "gcc")
        options = argparse.Namespace(build=self.folder, sources=self.folder, rounds=2, dlb=self.folder,
                                     libomp="libomp.so.5")
        progress = Progress({"cell": 1.0})
        progress.start("cell")

        def fake(cell, program, words, variables):
            if "--lewi" in variables.get("DLB_ARGS", ""):
                raise Failed("status 1")
            return Sample(1, 1, (2.0 if "--mngo" in variables.get("DLB_ARGS", "") else 1.0,))

        run, apps.run = apps.run, fake
        self.addCleanup(setattr, apps, "run", run)
        row = apps.measured(cell, options, progress)
        self.assertEqual(row.failed, {"lewi", "mngo"})
        self.assertEqual(len(row.samples["steelyard"]), 2)
        self.assertRegex(apps.table([row]), r"1\.00 \[1\.00-1\.00\] +fails +fails +fails +fails")

    def test_an_input_for_more_cores_is_left_out(self):
        cores = len(os.sched_getaffinity(0))
        inputs = tuple(Input(name, "", balanced=False, layouts=((2, 1),), cores=count)
                       for name, count in (("here", cores), ("wide", cores + 1)))
        sys.modules["script"] = argparse.Namespace(APPLICATION=application(inputs=inputs))
        self.addCleanup(sys.modules.pop, "script")
        names, apps.NAMES = apps.NAMES, ("script",)
        self.addCleanup(setattr, apps, "NAMES", names)
        options = argparse.Namespace(applications="script", mpi="openmpi", compilers="gcc", only="")
        self.assertEqual(["script here 2x1 openmpi gcc"], [str(cell) for cell in apps.cells(options)])

    def test_ranks_that_share_cores_are_also_measured_while_they_yield(self):
        options = argparse.Namespace(build=self.folder, dlb=None)
        cores = len(os.sched_getaffinity(0))
        found = {ranks: apps.methods(options, Cell(application(), application().inputs[0], ranks, 1, "openmpi", "gcc"))
                 for ranks in (cores, cores + 1)}
        self.assertNotIn("yielding", found[cores])
        self.assertIn("OMPI_MCA_mpi_yield_when_idle", found[cores + 1]["yielding"][1])


class Tables(unittest.TestCase):
    def test_ratios_are_of_one_round(self):
        cell = Cell(application(), application().inputs[0], 2, 1, "openmpi", "gcc")
        row = Row(cell, {"native": [Sample(2, 1, ()), Sample(4, 2, ())],
                         "steelyard": [Sample(1, 1, ()), Sample(2, 1, ())]})
        self.assertEqual(row.ratios("steelyard", "job"), [0.5, 0.5])
        text = apps.table([row, Row(cell, error="cannot be built\nmore")])
        self.assertIn("0.50 [0.50-0.50]  0.75 [0.62-0.88]", text)
        self.assertIn("cannot be built", text)
        self.assertRegex(text, r"geometric mean, unbalanced +0\.500 +0\.750")


if __name__ == "__main__":
    unittest.main()

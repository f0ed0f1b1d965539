# SPDX-License-Identifier: BSD-3-Clause
"""How bench/titus.py reads the files of DLB_Bench, and which folders it refuses."""

import tempfile
import unittest
from pathlib import Path

import titus
from harness import Failed, Figure

LOG = "session_time : 7\nparallel_work_session_time : {}\ntime_spent_solving_tasks : {}\n  [-inf,416[ : 0\n"


class Reading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "logs_0000.out").write_text(LOG.format(2_000_000_000, 1_500_000_000))
        (self.folder / "logs_0001.out").write_text(LOG.format(1_900_000_000, 2_100_000_000))
        (self.folder / "result.txt").write_text("45 145 \n245")

    def test_both_metrics_divide_by_processes_and_longest_session(self):
        nominal, own = titus.efficiencies(self.folder, 3, 1)
        self.assertAlmostEqual(nominal, 75)
        self.assertAlmostEqual(own, 90)

    def refused(self, reason):
        with self.assertRaisesRegex(Failed, reason):
            titus.efficiencies(self.folder, 3, 1)

    def test_a_wrong_or_missing_result_is_a_failure(self):
        (self.folder / "result.txt").write_text("45 145")
        self.refused("results of the 3 tasks are wrong or missing")
        (self.folder / "result.txt").unlink()
        self.refused("results of the 3 tasks are wrong or missing")

    def test_a_log_without_a_time_is_a_failure(self):
        (self.folder / "logs_0001.out").write_text("session_time : 7\n")
        self.refused("no parallel_work_session_time in ")

    def test_a_program_without_the_patch_is_a_failure(self):
        (self.folder / "result_ref.txt").write_text("45")
        self.refused("not patched: build it as docs")


class Folder(unittest.TestCase):
    def test_a_folder_without_the_program_is_refused_with_the_path(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder).resolve() / titus.PROGRAM
            with self.assertRaisesRegex(SystemExit, f"--titus={folder}: there is no program {program}: build it"):
                titus.program_in(folder)
            program.parent.mkdir(parents=True)
            program.write_text("")
            with self.assertRaises(SystemExit):
                titus.program_in(folder)
            program.chmod(0o755)
            self.assertEqual(titus.program_in(folder), program)


class Table(unittest.TestCase):
    def test_has_a_row_for_each_figure_of_titus(self):
        beside = {"ranks": 8, "seconds": 5}
        for place, label in enumerate(titus.LABELS):
            beside |= {f"{label}, own metric %": 90 + place, f"{label} %": 80 + place}
        page = titus.table([Figure("dlb-16", "emulated", 95, 1, "%"), Figure("titus-2", "", None, None, ""),
                            Figure("titus-8", "emulated", 81, 1, "%", beside=beside)])
        self.assertIn("\n| 8 | 5 | 90, 80 | 91, 81 | 92, 82 |\n", page)
        self.assertEqual(page.count("\n| "), 1)

    def test_is_empty_without_figures_of_titus(self):
        self.assertEqual(titus.table([Figure("dlb-16", "emulated", 95, 1, "%")]), "")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
import argparse
import contextlib
import io
import json
import tempfile
import time
import unittest
from pathlib import Path

import harness
from harness import Case, Failed, Figure, Measurement, Progress, Session, Target


def shell(script, **more):
    return Case("case", ["sh", "-c", script], **more)


class Run(unittest.TestCase):
    def test_reads_the_number_and_sets_the_variables(self):
        self.assertEqual(harness.run(shell("echo seconds $TIME", variables={"TIME": "1.5"}), 10), 1.5)

    def test_the_users_own_openmp_settings_do_not_leak_in(self):
        harness.os.environ["OMP_NUM_THREADS"] = "77"
        self.addCleanup(harness.os.environ.pop, "OMP_NUM_THREADS")
        self.assertEqual(harness.run(shell("echo seconds ${OMP_NUM_THREADS:-0}"), 10), 0)

    def test_a_failing_command_is_named_with_its_last_words(self):
        with self.assertRaisesRegex(Failed, "(?s)status 3.*no such thing"):
            harness.run(shell("echo seconds 1; echo no such thing >&2; exit 3"), 10)

    def test_reads_all_numbers_of_a_command_that_prints_many(self):
        self.assertEqual(harness.numbers(shell("echo seconds 1; echo seconds 2.5"), 10), [1, 2.5])

    def test_output_without_a_number_is_an_error(self):
        with self.assertRaisesRegex(Failed, "no result"):
            harness.run(shell("echo hello"), 10)

    def test_a_program_that_is_not_there_is_an_error(self):
        with self.assertRaisesRegex(Failed, "cannot be started"):
            harness.run(Case("case", ["/nonexistent/mpirun"]), 10)

    def test_a_hanging_command_ends_with_its_children(self):
        with tempfile.TemporaryDirectory() as directory:
            late = Path(directory) / "late"
            with self.assertRaisesRegex(Failed, "still running"):
                harness.run(shell(f"(sleep 2; touch {late}) & wait"), 0.3)
            time.sleep(2.5)
            self.assertFalse(late.exists())


class Statistics(unittest.TestCase):
    def test_spread_is_half_the_distance_of_the_quartiles(self):
        self.assertEqual(harness.spread([1, 2, 3, 4, 5]), 1)
        self.assertEqual(harness.spread([7]), 0)

    def test_one_wild_sample_does_not_decide(self):
        f = harness.figure("x", "real", [1, 2, 900], "%", Target("<=", 3), "", {})
        self.assertEqual((f.value, f.met), (2, True))

    def test_targets(self):
        self.assertTrue(Target(">=", 85).met_by(85))
        self.assertFalse(Target(">=", 85).met_by(84.9))
        self.assertFalse(Target("<=", 1).met_by(1.1))
        self.assertFalse(Target("<=", 1).met_by(1.1, 0.2))

    def test_the_same_as_the_bound_is_told_by_the_spread(self):
        same = Target("<=", 2, or_same=True)
        self.assertTrue(same.met_by(2.0625, 0.0625))
        self.assertFalse(same.met_by(2.0625, 0.03125))
        self.assertFalse(same.met_by(2.25, 0.5), "noise excuses no more than a twentieth")
        self.assertTrue(same.met_by(0.9))
        self.assertFalse(Target(">=", 1, or_same=True).met_by(0.8, 0.1))


class Measuring(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = Path(directory.name) / "deep" / "figures.json"

    def measure(self, measurements, **options):
        self.options = argparse.Namespace(build=Path("/nowhere"), out=self.out, only=[], quick=False, dlb=[],
                                          list=False)
        vars(self.options).update(options)
        self.said = io.StringIO()
        with contextlib.redirect_stderr(self.said), contextlib.redirect_stdout(self.said):
            figures = harness.measure(self.options, measurements)
            self.status = harness.report(self.options, figures)
        return figures

    def test_a_figure_that_fails_stops_no_other_and_shows_in_the_status(self):
        def fails(session):
            session.program("bin/steelyard")

        def works(session):
            return [Figure("good", "real", 1.0, 0.1, "s")]

        figures = self.measure([Measurement("bad", 1, fails), Measurement("good", 1, works)])
        self.assertEqual([f.value for f in figures], [None, 1.0])
        self.assertIn("build it first", figures[0].error)
        self.assertEqual(self.status, 1)
        self.assertEqual(harness.read(self.out), figures)
        self.assertEqual(json.loads(self.out.read_text())[1]["name"], "good")

    def test_a_missed_target_is_shown_and_is_no_failure(self):
        missed = harness.figure("slow", "real", [5.0], "%", Target("<=", 1), "", {"peer": 7})
        self.measure([Measurement("slow", 1, lambda session: [missed])])
        self.assertEqual(self.status, 0)
        self.assertRegex(self.said.getvalue(), "slow +real +5 .* <= 1 +MISSED +peer 7")

    def test_a_row_is_shown_before_the_next_figure_is_measured(self) -> None:
        def second(session: Session) -> list[Figure]:
            self.assertIn("bench: first real 2 ", self.said.getvalue())
            return []

        first = Measurement("first", 1, lambda session: [Figure("first", "real", 2, 0, "s")])
        self.measure([first, Measurement("second", 1, second)])

    def test_an_unknown_name_lists_the_known_ones(self):
        with self.assertRaisesRegex(SystemExit, "drifd.*drift"):
            self.measure([Measurement("drift", 1, lambda session: [])], only=["drifd"])

    def test_what_takes_too_long_is_measured_only_by_name(self) -> None:
        long = Measurement("long", 1000, lambda session: [Figure("long", "real", 1, 0, "s")], only_by_name=True)
        short = Measurement("short", 1, lambda session: [Figure("short", "real", 1, 0, "s")])
        self.assertEqual([f.name for f in self.measure([long, short])], ["short"])
        self.assertEqual([f.name for f in self.measure([long, short], only=["long"])], ["long"])

    def test_rounds_are_interleaved_and_turn_round(self):
        log = self.out.parent / "log"
        cases = [Case(name, ["sh", "-c", f"echo {name} >> {log}; echo seconds 1"]) for name in "ab"]

        def work(session: Session):
            times = session.interleaved(cases, 3)
            return [harness.figure("x", "real", times["a"], "s", None, "", {})]

        self.measure([Measurement("x", 30, work)])
        self.assertEqual(log.read_text().split(), list("abbaab"))


class Remaining(unittest.TestCase):
    def test_rounds_correct_the_estimate(self):
        progress = Progress({"one": 10, "two": 20})
        with contextlib.redirect_stderr(io.StringIO()) as said:
            progress.start("one")
            progress.round(1, 4, 5.0)
            progress.finish()
            progress.start("two")
        self.assertRegex(said.getvalue(), "(?s)1/2 one: begins, about 30 s left.*about 35 s left.*2/2 two: begins, "
                                          "about 20 s")

    def test_a_long_command_is_not_silent(self):
        progress = Progress({"one": 0.4, "two": 20})
        progress.SILENCE = 0.3
        with contextlib.redirect_stderr(io.StringIO()) as said, progress.watched():
            progress.start("one")
            time.sleep(1)
            progress.finish()
            number = said.getvalue().count("\n")
            time.sleep(0.5)
        self.assertRegex(said.getvalue(), "1/2 one: 0 s so far, about 20 s left\n(?s:.*)1 s so far, longer than "
                                          "expected; then about 20 s left")
        self.assertEqual(said.getvalue().count("\n"), number, "nothing is measured any more")
        self.assertLessEqual(number, 4, "a line a silence, and no more")

    def test_the_list_says_how_long_each_takes(self):
        options = argparse.Namespace(only=[], list=True)
        measurements = [Measurement("short", 5, lambda session: []),
                        Measurement("long", 1200, lambda session: [], only_by_name=True)]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(harness.measure(options, measurements), [])
        self.assertEqual(said.getvalue(), "short: about 5 s\nlong: about 1200 s, only by name\n")


if __name__ == "__main__":
    unittest.main()

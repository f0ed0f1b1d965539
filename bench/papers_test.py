# SPDX-License-Identifier: BSD-3-Clause
import io
import tempfile
import unittest
from contextlib import redirect_stdout
from unittest import mock

import papers
from harness import Figure


class Table(unittest.TestCase):
    def test_shows_paper_rule_and_default_with_the_mode(self):
        f = Figure("soga-8-1KiB-openmpi", "emulated", 83, 1, "%", beside={
            "paper, total time %": 40, "their rule %": 83, "our default %": -28})
        page = papers.table(papers.PAPERS["soga"], [f])
        self.assertRegex(page, r"soga-8-1KiB-openmpi +emulated +40 +83 +-28\n")
        self.assertIn("Not reproduced: ", page)

    def test_shows_gains_over_the_tuned_fraction(self):
        f = Figure("slack", "emulated", 0.9, 0, "", beside={"combined": 0.9, "auto": 0.75})
        self.assertRegex(papers.table(papers.PAPERS["kale"], [f]), r"slack +emulated +7.2 +10 +25\n")

    def test_a_rule_that_did_not_run_is_a_dash(self):
        f = Figure("quiescing", "real", 0.5, 0, "", beside={"QUO in the paper": 8.24})
        self.assertRegex(papers.table(papers.PAPERS["quo"], [f]), r"quiescing +real +8.24 +- +0.5\n")

    def test_a_failed_figure_says_why(self):
        page = papers.table(papers.PAPERS["sabo"], [Figure("minife-100", "", None, None, "", error="no program\nmore")])
        self.assertIn("minife-100: failed: no program\n", page)

    def test_a_benchmark_without_figures_is_a_row_with_the_reason(self):
        said = io.StringIO()
        words = ["papers.py", "--build", tempfile.mkdtemp(), "--quo=/nonexistent", "quo", "kale"]
        with mock.patch("sys.argv", words), mock.patch("subprocess.run") as run, redirect_stdout(said):
            run.return_value.returncode = 3
            self.assertEqual(papers.main(), 1)
        self.assertIn("quiescing-bound: failed: no figure: phases.py ended with status 3\n", said.getvalue())
        quo, kale = (call.args[0] for call in run.call_args_list)
        self.assertIn("--quo=/nonexistent", quo)
        self.assertNotIn("--quo=/nonexistent", kale)


if __name__ == "__main__":
    unittest.main()

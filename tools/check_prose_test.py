# SPDX-License-Identifier: BSD-3-Clause
"""check-prose.py on small projects that are made here."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINTER = ROOT / "tools" / "check-prose.py"
VOCABULARY = """
[docs, messages, comments]
weigh, weighed -> measure
mask, masks -> affinity mask
  except: affinity mask*
who -> name it
  except: users who
/\\bsay `?--/ -> use
[docs]
in docs alone -> elsewhere
"""


class CheckProse(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("tools/vocabulary.txt", VOCABULARY)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_it(self, *options):
        return subprocess.run([sys.executable, LINTER, "--root", self.root, *options], capture_output=True, text=True)

    def findings(self, name, text, *options):
        """Line and words of each."""
        self.write(name, text)
        result = self.run_it(*options)
        self.assertEqual(
            result.returncode,
            1 if f"{name}:" in result.stdout.replace("warning", "") else 0,
            result.stdout + result.stderr,
        )
        found = [line.split(":", 2)[1:] for line in result.stdout.splitlines() if line.startswith(f"{name}:")]
        return [(int(line), rest.split(" -> ")[0].strip()) for line, rest in found]

    def test_says_file_line_word_and_what_to_write(self):
        self.write("README.md", "# Title\n\nSteelyard\nweighed the ranks.\n")
        result = self.run_it()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.splitlines()[0], "README.md:4: weighed -> measure")

    def test_pages_without_such_words_pass(self):
        self.write("README.md", "Steelyard measures the weight of ranks. Do not outweigh a masked rank.\n")
        result = self.run_it()
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_code_is_not_looked_at(self):
        self.assertEqual(
            self.findings(
                "docs/a/page.md",
                "`weigh`, `over\nlines weigh`\n\n```sh\nweigh\n```\n<!-- weigh\nweigh -->\n"
                "[x](weigh.md)\nsteelyard_weigh() src/weigh.h\n\n    weigh\n",
            ),
            [(12, "weigh")],
        )

    def test_a_phrase_goes_over_the_end_of_a_line(self):
        self.assertEqual(self.findings("README.md", "Something in docs\nalone.\n"), [(1, "in docs alone")])

    def test_exceptions(self):
        self.assertEqual(
            self.findings("README.md", "An affinity mask for users who ask.\n\nA mask, and who asks.\n"),
            [(3, "mask"), (3, "who")],
        )

    def test_options_are_seen_by_rules_that_ask_for_them(self):
        self.assertEqual(self.findings("README.md", "To allow it, say `--weigh`.\n"), [(1, "say `--")])

    def test_tables_and_lists(self):
        self.assertEqual(
            self.findings("README.md", "| a | weigh |\n|---|---|\n| mask | b |\n\n- item\n- weigh\n"),
            [(1, "weigh"), (3, "mask"), (6, "weigh")],
        )

    def test_messages_of_cpp(self):
        source = (
            '#include "weigh a b c.h"\nconst auto a = 1\'000; // weigh in a comment\nconst char* key = "weigh";\n'
            'say("these are ranks "\n    "that weigh \\"this\\" now, in docs alone");\nconst char q = \'"\';\n'
            'R"(a long text\nabout a mask)";\n'
        )
        self.assertEqual(self.findings("src/base/a.cpp", source), [(2, "weigh"), (5, "weigh"), (8, "mask")])

    def test_tests_are_not_looked_at(self):
        self.assertEqual(self.findings("src/base/a_test.cpp", 'const char* a = "the ranks weigh that";\n'), [])

    def test_comments_of_sources(self):
        text = "/// Ranks that weigh.\nint a;  // its mask\n"
        self.assertEqual(self.findings("src/api/a.h", text), [(1, "weigh"), (2, "mask")])
        (self.root / "src/api/a.h").unlink()
        self.assertEqual(self.findings("tests/a.c", text), [(1, "weigh"), (2, "mask")])

    def test_comments_of_scripts(self):
        python = '#!/usr/bin/env weigh\n"""Ranks weigh."""\nkey = "# a mask"  # its mask\n'
        python += 'def f():\n    """Who\n    measures?"""\n'
        self.assertEqual(self.findings("bench/a.py", python), [(2, "weigh"), (3, "mask"), (5, "Who")])
        (self.root / "bench/a.py").unlink()
        shell = "#!/bin/sh\n# Ranks weigh\n# in a mask.\necho '# weigh' \"${a#mask}\" # who\n"
        for name in ("examples/a.sh", "sim/CMakeLists.txt", "cmake/a.cmake"):
            with self.subTest(name):
                self.assertEqual(self.findings(name, shell), [(2, "weigh"), (3, "mask"), (4, "who")])
                (self.root / name).unlink()
        self.assertEqual(self.findings("sim/a.txt", shell), [])

    def test_comments_of_public_headers(self):
        header = (
            "/*\n * Ranks\n * weigh.\n *\n *     weigh(a);  code of an example\n * @param a a mask\n */\n"
            "int f(int a); /* who? */\n"
            '// say\n// --x\nconst char* weigh = "a string that may weigh";\n'
        )
        self.assertEqual(
            self.findings("include/steelyard/a.h", header), [(3, "weigh"), (6, "mask"), (8, "who"), (9, "say --")]
        )

    def test_comments_of_fortran(self):
        source = "! Ranks weigh.\n!     weigh\n!$omp parallel weigh\ncall f('a!mask') ! a mask\n"
        self.assertEqual(self.findings("fortran/a.f90", source), [(1, "weigh"), (4, "mask")])

    def test_messages_of_python(self):
        source = '"""First line.\n\nRanks weigh.\n"""\n'
        source += 'KEY = "weigh"\nprint(f"ranks {KEY} that "\n      f"weigh {KEY} now")\n# a mask\n'
        self.assertEqual(self.findings("python/steelyard/a.py", source), [(3, "weigh"), (6, "weigh"), (8, "mask")])

    def test_descriptions_of_the_schema(self):
        self.assertEqual(
            self.findings("schema/a.json", '{\n  "mask": 1,\n  "description": "CPUs of the mask"\n}\n'), [(3, "mask")]
        )

    def test_long_sentences_are_warnings(self):
        long = "word " * 36 + "end. Another one.\n"
        self.write("README.md", long)
        result = self.run_it()
        self.assertEqual(result.returncode, 0)
        self.assertIn("README.md:1: warning: a sentence of 37 words", result.stdout)

    def test_values_and_parameters_are_sentences_of_their_own(self):
        half = "word " * 20
        self.write("README.md", f"{half}end. off: {half}end.\n")
        self.write("fortran/a.f90", f"!> {half}\n!!\n!! @param[out] a {half}\n!! @return {half}\n")
        self.assertNotIn("warning", self.run_it().stdout)

    def test_mistakes_in_the_vocabulary(self):
        for line in ("weigh measure", "except: weigh", "[texts]", "/(/ -> x", " -> x"):
            with self.subTest(line):
                self.write("tools/vocabulary.txt", "\n" + line + "\n")
                result = self.run_it()
                self.assertEqual(result.returncode, 2)
                self.assertIn("vocabulary.txt:2", result.stderr)

    def test_the_project_has_each_word_of_its_table(self):
        """The words that started this table are still in it."""
        texts = {
            "weighed": "It weighed ranks.",
            "balance of ranks": "The balance of ranks.",
            "is waited for": "It is waited for.",
            "guest": "A guest runs.",
            "mask": "Its mask.",
            "noise band": "The noise band.",
            "thread numbers": "By thread numbers.",
            "left to the library": "It is left to the library.",
            "instrument": "The instrument is real.",
            "verdict": "A verdict.",
            "banner": "A banner.",
            "undone": "It is undone.",
            "say `--": "Then say `--x`.",
            "heard instead": "It is heard instead.",
            "early threads": "Its early threads.",
            "nobody": "It waits for nobody.",
            "that one": "It waits for that one.",
            "be glad": "So be glad.",
            "ranks a node": "Of 8 ranks a node.",
        }
        right = (
            "Work is left undone. So that one rank leaves. The more threads a rank has, the better. Users who measure. "
            "It has most of the weight, in a kind of phase, and looks on to stay. An affinity mask. A dashboard."
        )
        (self.root / "tools/vocabulary.txt").write_text((ROOT / "tools/vocabulary.txt").read_text())
        for words, text in texts.items():
            with self.subTest(words):
                self.assertEqual(self.findings("README.md", text), [(1, words)])
        self.assertEqual(self.findings("README.md", right), [])


if __name__ == "__main__":
    unittest.main()

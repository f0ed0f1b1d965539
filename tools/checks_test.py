# SPDX-License-Identifier: BSD-3-Clause
"""The checks of `make check` can fail: each on a small project that is made here. check-prose has a test of its own."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ".ci .github bench cmake docs examples fortran include packaging/debian python sim src tests tools".split()
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in FOLDERS:
            (self.root / name).mkdir(parents=True)
        for name in ("CMakeLists.txt", "Makefile", ".ci/run", "packaging/debian/prerm"):
            self.write(name, f"# {LICENCE}\n")
        shutil.copy(ROOT / ".clang-format", self.root)
        for name in ("sources.sh", "check-length.py", "check-spdx.sh", "check-environment.sh", "check-format.sh"):
            text = (ROOT / "tools" / name).read_text()
            if LICENCE not in "\n".join(text.split("\n")[:2]):
                text = text.replace("\n", f"\n# {LICENCE}\n", 1)
            self.write(f"tools/{name}", text)
            (self.root / "tools" / name).chmod(0o755)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def expect(self, check, *complaints):
        """The check names each of these, or passes if there are none."""
        result = subprocess.run([self.root / "tools" / check], capture_output=True, text=True)
        self.assertEqual(result.returncode, 1 if complaints else 0, result.stdout + result.stderr)
        for complaint in complaints:
            self.assertIn(complaint, result.stdout)

    def test_length_of_lines(self):
        self.expect("check-length.py")
        self.write("src/a.cpp", "x" * 120 + "\n" + "ä" * 120 + "\n")
        self.write("python/page.css", "x" * 500 + "\n")
        self.expect("check-length.py")
        for name in (
            "src/a.cpp",
            "python/a.py",
            "tools/a.sh",
            "fortran/a.f90",
            "cmake/a.cmake",
            "tests/CMakeLists.txt",
        ):
            with self.subTest(name):
                self.write(name, "short\n" + "x" * 121 + "\n")
                self.expect("check-length.py", f"{name}:2: 121 columns, at most 120")
                (self.root / name).unlink()

    def test_length_of_files(self):
        self.write("bench/a.py", "x\n" * 600)
        self.expect("check-length.py")
        self.write("bench/a.py", "x\n" * 601)
        self.expect("check-length.py", "bench/a.py: 601 lines")

    def test_licence_lines(self):
        heads = {"src/a.cpp": "// {}", "include/a.h": "/* {} */", "fortran/a.f90": "! {}", "tests/a.F90": "! {}",
                 "tools/a.sh": "#!/bin/sh\n# {}", "python/a.py": "# {}", "cmake/a.cmake": "# {}",
                 "src/a.map": "/* {} */",
                 "python/a.j2": "{{#- {} -#}}", ".github/workflows/ci.yml": "# {}"}  # fmt: skip
        for name, head in heads.items():
            self.write(name, head.format(LICENCE) + "\nrest\n")
        self.expect("check-spdx.sh")
        for name in heads:
            with self.subTest(name):
                kept = (self.root / name).read_text()
                self.write(name, "rest\n")
                self.expect("check-spdx.sh", f"  {name}\n")
                self.write(name, kept.replace("BSD-3-Clause", "MIT"))
                self.expect("check-spdx.sh", f"  {name}\n")
                self.write(name, kept)

    def test_environment(self):
        self.write("src/base/options.cpp", 'getenv("A");\n')
        self.expect("check-environment.sh")
        self.write("src/cores/a.cpp", 'getenv("A");\n')
        self.expect("check-environment.sh", "src/cores/a.cpp:1:")

    @unittest.skipUnless(shutil.which("clang-format-19"), "clang-format-19 is not here")
    def test_format(self):
        self.write("src/a.cpp", "int a;\n")
        self.expect("check-format.sh")
        self.write("src/a.cpp", "int  a;\n")
        self.expect("check-format.sh", "  src/a.cpp\n")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""The checks of `make check` can fail: each on a small project that is made here. check-prose has a test of its own."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ".ci .github bench cmake docs examples fortran include packaging/debian python sim src tests tools".split()
SCRIPTS = (
    "sources.sh check-length.py add-spdx.py check-environment.sh check-format.sh check-functions.py "
    "check-layers.py check-tests.py list-constants.py"
).split()
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
        for name in SCRIPTS:
            text = (ROOT / "tools" / name).read_text()
            if LICENCE not in "\n".join(text.split("\n")[:2]):
                text = text.replace("\n", f"\n# {LICENCE}\n", 1)
            self.write(f"tools/{name}", text)
            (self.root / "tools" / name).chmod(0o755)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def expect(self, check, *complaints):
        """The check, a script of tools/ with its options, names each of these, or passes if there are none."""
        name, *options = check.split()
        result = subprocess.run([self.root / "tools" / name, *options], capture_output=True, text=True)
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
                 "fortran/a.inc": "! {}", "tools/a.sh": "#!/bin/sh\n# {}", "python/a.py": "# {}",
                 "cmake/a.cmake": "# {}", "src/a.map": "/* {} */",
                 "python/a.j2": "{{#- {} -#}}", ".github/workflows/ci.yml": "# {}"}  # fmt: skip
        for name, head in heads.items():
            self.write(name, head.format(LICENCE) + "\nrest\n")
        self.expect("add-spdx.py --check")
        for name in heads:
            with self.subTest(name):
                kept = (self.root / name).read_text()
                self.write(name, kept.replace(heads[name].format(LICENCE).split("\n")[-1] + "\n", ""))
                self.expect("add-spdx.py --check", f"  {name}\n", "tools/add-spdx.py")
                subprocess.run([self.root / "tools/add-spdx.py"], check=True, capture_output=True)
                self.assertEqual((self.root / name).read_text(), kept)
                self.write(name, kept.replace("BSD-3-Clause", "MIT"))
                self.expect("add-spdx.py --check", f"  {name}\n")
                self.write(name, kept)

    def test_environment(self):
        self.write("src/base/options.cpp", 'getenv("A");\n')
        self.expect("check-environment.sh")
        self.write("src/cores/a.cpp", 'getenv("A");\n')
        self.expect("check-environment.sh", "src/cores/a.cpp:1:")

    def test_layers(self):
        rows = ((0, "base", "status"), (1, "node", "topology"), (1, "wait", "back-off"),
                (2, "cores", "capability: cores"), (2, "loops", "capability: loops"), (4, "api", "calls"))  # fmt: skip
        table = "".join(f"| {layer} | `src/{folder}` | {content} |\n" for layer, folder, content in rows)
        self.write("docs/architecture.md", "| layer | folder | content |\n|---|---|---|\n" + table)
        for _, folder, _ in rows:
            self.write(f"src/{folder}/a.h", "")
        self.write("src/cores/b.cpp", '#include "cores/a.h"\n#include "node/a.h"\n#include <base/a.h>\n')
        self.write("src/api/b.c", '#include <mpi.h>\n#include "loops/a.h"\n#include <sys/mman.h>\n')
        self.write("src/wait/a.h", '#include "node/a.h"\n')
        self.expect("check-layers.py")
        forbidden = {
            "src/base/b.cpp": '#include "node/a.h"',
            "src/node/b.h": '#  include <api/a.h>',
            "src/cores/c.cpp": '#include "loops/a.h"',
            "src/loops/b_test.cpp": '#include "mpi.h"',
            "src/wait/b.cpp": '#include "cores/a.h"',
        }
        for name, include in forbidden.items():
            with self.subTest(name):
                self.write(name, f"\n{include}\n")
                self.expect("check-layers.py", f"{name}:2: ")
                (self.root / name).unlink()
        self.write("src/other/a.h", "")
        self.expect("check-layers.py", "src/other: not in the table")
        (self.root / "src/other/a.h").unlink()
        (self.root / "src/other").rmdir()
        (self.root / "src/node/a.h").unlink()
        (self.root / "src/node").rmdir()
        self.expect("check-layers.py", "names src/node, which does not exist")

    def test_functions(self):
        body = "  ;\n" * 88
        heads = {
            "f": "int f(int a = 0) {", "g": "void C::g() const noexcept {", "C": "C::C(int a) : a_{a}, b_(a) {",
            "=": "bool operator==(const A& a) {", "TEST": "TEST(A, B) {", "t": "template <class T>\nT t(T a) {",
        }  # fmt: skip
        for name, head in heads.items():
            with self.subTest(name):
                around = "namespace a {\nnamespace {\nstruct alignas(64) A {\n  int b{0};\n};\nMACRO(a)\nMACRO(b)\n"
                self.write("src/a.cpp", f"{around}{head}\n{body}}}\n}}\n}}\n")
                lines = head.count("\n")
                if lines == 0:
                    self.expect("check-functions.py")
                self.write("src/a.cpp", f"{around}{head}\n{body}  ;\n}}\n}}\n}}\n")
                self.expect("check-functions.py", f"{name}: {91 + lines} lines, at most 90")
        method = f"class A : B<int> {{\n public:\n  int f() {{\n{body}  ;\n  }}\n}};\n"
        self.write("src/a.cpp", method)
        self.expect("check-functions.py", "src/a.cpp:3: f: 91 lines")
        data = f"static const int a[] = {{\n{body}  1\n}};\n"
        self.write("src/a.cpp", data + '/* f() { */ const char* b = "f() {";\n' + data)
        self.expect("check-functions.py")

    def test_names_of_tests(self):
        self.write("src/cores/plan.h", "")
        self.write("src/cores/plan_test.cpp", "")
        self.write("tests/other_test.cpp", "")
        self.expect("check-tests.py")
        self.write("src/cores/cores_plan_test.cpp", "")
        self.expect("check-tests.py", "src/cores/cores_plan_test.cpp: no source cores_plan.h or cores_plan.cpp")

    def test_constants(self):
        self.write("src/cores/a.h", """
// Of the node,
// in all.
inline constexpr std::size_t kLeast = 2, kMost = 1'000;  ///< cores
struct A {
  static constexpr double kPart = 1.0 / 3;  // of the time
  static constexpr std::uint64_t kBare{std::uint64_t{1} << 30};
  const int threads = count(3);
  int size = 4;
};
// Format: ELF.
constexpr int kClass = 2;
constexpr int kLine = 64;  // Size: a line of the cache
enum { kEnumerator = 3 };
""")
        self.write("src/cores/a_test.cpp", "constexpr int kTest = 1;\n")
        listed = subprocess.run([self.root / "tools/list-constants.py"], capture_output=True, text=True, check=True)
        self.assertEqual(listed.stdout.splitlines(), [
            "src/cores/a.h:4\ttuning\tkLeast\t2\tOf the node, in all. cores",
            "src/cores/a.h:4\ttuning\tkMost\t1'000\tOf the node, in all. cores",
            "src/cores/a.h:6\ttuning\tkPart\t1.0 / 3\tof the time",
            "src/cores/a.h:7\ttuning\tkBare\tstd::uint64_t{1} << 30\t",
            "src/cores/a.h:12\tformat\tkClass\t2\tFormat: ELF.",
            "src/cores/a.h:13\tsize\tkLine\t64\tSize: a line of the cache",
            "src/cores: 4 tuning, 2 other", "list-constants: 4 tuning constants, 2 other"])  # fmt: skip
        command = [self.root / "tools/list-constants.py", "--bare", "cores"]
        bare = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertEqual(bare.stdout.splitlines()[1:], [
            "src/cores: 1 tuning, 0 other", "list-constants: 1 tuning constants, 0 other"])  # fmt: skip

    def test_number_of_constants(self):
        tool = self.root / "tools/list-constants.py"
        tool.write_text(re.sub("MOST_TUNING = [0-9]+", "MOST_TUNING = 1", tool.read_text()))
        self.write("src/cores/a.h", "constexpr int kOne = 1;\n")
        self.expect("list-constants.py --check")
        self.write("src/loops/b.h", "constexpr int kTwo = 2;\nconstexpr int kBit = 1;  // Encoding: a flag\n")
        self.expect("list-constants.py --check", "more than 1 tuning constants")

    def tidy(self, *words):
        """Status and last line of tidy.py. Its clang-tidy rejects files with `bad` and sleeps on files with `slow`."""
        script = """#!/bin/sh
for file; do :; done
! grep -qs slow -- "$file" || exec sleep 60
! grep -qs bad -- "$file"
"""
        self.write("bin/clang-tidy-19", script)
        (self.root / "bin/clang-tidy-19").chmod(0o755)
        files = self.root.glob("src/*.cpp")
        commands = [{"file": str(file), "directory": "/", "command": f"c++ {file}"} for file in files]
        self.write("build/compile_commands.json", json.dumps(commands))
        self.write(".clang-tidy", "")
        shutil.copy(ROOT / "tools/tidy.py", self.root / "tools")
        variables = os.environ | {"PATH": f"{self.root / 'bin'}:{os.environ['PATH']}"}
        command = [self.root / "tools/tidy.py", self.root / "build", "2", *words]
        result = subprocess.run(command, capture_output=True, text=True, env=variables)
        self.assertEqual(result.stderr, "")
        return result.returncode, result.stdout.split("\n")[-2]

    def test_tidy(self):
        self.write("src/a.cpp", '#include "a.h"\n')
        self.write("src/b.cpp", "\n")
        self.write("src/b_test.cpp", "bad\n")
        self.write("src/a.h", "\n")
        after = "with findings; {} unchanged since they were found clean; 0 without a compile command"
        self.assertEqual(self.tidy(), (0, "tidy: 2 sources: 2 read, 0 of them " + after.format(0)))
        self.assertEqual(self.tidy(), (0, "tidy: 2 sources: 0 read, 0 of them " + after.format(2)))
        self.write("src/a.h", "changed\n")
        self.assertEqual(self.tidy(), (0, "tidy: 2 sources: 1 read, 0 of them " + after.format(1)))
        self.write("src/b.cpp", "bad\n")
        self.assertEqual(self.tidy(), (1, "tidy: 2 sources: 1 read, 1 of them " + after.format(1)))
        self.write("src/b.cpp", "slow\n")
        late = "; 1 left out: no time was left of 0.5 s"
        self.assertEqual(self.tidy("0.5"), (0, "tidy: 2 sources: 0 read, 0 of them " + after.format(1) + late))

    @unittest.skipUnless(shutil.which("clang-format-19"), "clang-format-19 is not here")
    def test_format(self):
        self.write("src/a.cpp", "int a;\n")
        self.expect("check-format.sh")
        self.write("src/a.cpp", "int  a;\n")
        self.expect("check-format.sh", "  src/a.cpp\n")


class Make(unittest.TestCase):
    def test_jobs_do_not_depend_on_the_threads_of_programs(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "JOBS"))}
        for name in ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT"):
            done = subprocess.run(["make", "-s", "help"], cwd=ROOT, env=environment | {name: "1"}, capture_output=True,
                                  text=True, check=True)
            self.assertIn(f"JOBS={len(os.sched_getaffinity(0))} ", done.stdout, name)


if __name__ == "__main__":
    unittest.main()

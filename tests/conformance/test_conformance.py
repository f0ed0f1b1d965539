# SPDX-License-Identifier: BSD-3-Clause
"""The runner of the conformance suites, with suites of a few lines and a stand-in for `steelyard` that breaks
programs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import case
import conformance
import libgomp
import llvm
import pytest
import vv

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  (void)argv;
  printf("count %d\\n", argc);
  return getenv("WANTED") ? 0 : 3;
}
"""

STAND_IN = """#!/bin/bash
# Takes `run --record=none` away and runs the program, after it has done harm to some.
shift 2
while [[ $1 == --* ]]; do shift; done
case $1 in
  *differs*) exit 5 ;;
  *hangs*) sleep 600 & wait ;;
  *once*) [ -e "$0.once" ] || { touch "$0.once"; exit 6; } ;;
esac
echo "steelyard: 1 rank on 1 node"
echo "  moved    nothing"
exec "$@"
"""


@pytest.fixture
def command(tmp_path: Path) -> Path:
    path = tmp_path / "stand-in"
    path.write_text(STAND_IN)
    path.chmod(0o755)
    return path


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of LLVM's suite, as far as the runner can tell."""
    tests = tmp_path / "sources" / "llvm-project" / "openmp" / "runtime" / "test"
    tests.mkdir(parents=True)
    (tests / "lit.cfg").touch()
    right = "// RUN: %libomp-compile && env WANTED=1 %libomp-run\n"
    for name, lines in {
        "passes": right,
        "differs": right,
        "hangs": right,
        "once": right,
        "fails": "// RUN: %libomp-compile-and-run\n",
        "broken": right + "not a program\n",
        "elsewhere": right + "// REQUIRES: darwin\n",
    }.items():
        (tests / f"{name}.c").write_text(lines + PROGRAM)
    return tmp_path / "sources"


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("g++"), reason="needs gcc")
def test_differences_are_named(sources: Path, command: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    start = time.monotonic()
    words = [f"--build={tmp_path}", f"--command={command}", f"--sources={sources}", "--suites=llvm", "--compilers=gcc"]
    status = conformance.main([*words, "--modes=default", "--limit=3", "--repeats=2",
                               f"--json={tmp_path / 'findings.json'}"])
    out = capfd.readouterr().out
    assert status == 1, out
    row = next(line.split() for line in out.splitlines() if line.startswith("llvm"))
    #                            programs, natively, under Steelyard, differences, flaky, once
    assert row == ["llvm", "gcc", "default", "5", "4", "2", "2", "0", "1"], out
    assert "default: llvm/gcc/differs.c: status 5" in out
    assert "default: llvm/gcc/hangs.c: time limit" in out
    assert "default: llvm/gcc/once.c: status 6" in out.split("Failed under Steelyard once")[1]
    assert "2 differences" in out
    kept = {finding["case"]["name"]: finding["result"]
            for finding in json.loads((tmp_path / "findings.json").read_text())}
    assert kept == {"differs.c": "differs", "hangs.c": "differs", "once.c": "once"}
    assert time.monotonic() - start < 60, "`sleep 600` is ended with its process group"


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("g++"), reason="needs gcc")
def test_no_difference_is_success(sources: Path, command: Path, tmp_path: Path) -> None:
    words = [f"--build={tmp_path}", f"--command={command}", f"--llvm={sources / 'llvm-project'}", "--suites=llvm",
             "--compilers=gcc"]
    assert conformance.main([*words, "--modes=default", "--only=/(passes|fails)"]) == 0


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("g++"), reason="needs gcc")
def test_a_program_that_fails_natively_later_is_flaky(sources: Path, command: Path, tmp_path: Path) -> None:
    """Passes the first time only: what happens under Steelyard says nothing."""
    tests = sources / "llvm-project" / "openmp" / "runtime" / "test"
    mark = tmp_path / "mark"
    line = f"// RUN: %libomp-compile && env WANTED=1 %libomp-run && test ! -e {mark} && touch {mark}\n"
    (tests / "wavers.c").write_text(line + PROGRAM)
    runner = conformance.Runner(command, tmp_path / "work", 30, 3)
    (found,) = (found for found in llvm.cases(tests) if found.name == "wavers.c" and found.compiler == "gcc")
    built, native, (finding,) = runner.first(found, ["default"])
    assert (built, native, finding.result) == (True, True, "differs")
    runner.repeat(finding)
    assert finding.result == "flaky"


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("g++"), reason="needs gcc")
def test_an_interrupted_runner_leaves_no_program(sources: Path, command: Path, tmp_path: Path) -> None:
    words = [f"--build={tmp_path}", f"--command={command}", f"--sources={sources}", "--suites=llvm", "--compilers=gcc",
             "--only=hangs"]
    runner = subprocess.Popen([sys.executable, str(Path(conformance.__file__)), *words], start_new_session=True)
    assert wait_for(lambda: started_by(command)), "the program runs"
    runner.terminate()
    assert runner.wait(30) == 128 + signal.SIGTERM
    assert wait_for(lambda: not started_by(command)), started_by(command)


def started_by(command: Path) -> list[bytes]:
    """Command lines that contain `command` as a word, but not as an option of the runner."""
    lines = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if os.access(path, os.R_OK))
    return [line for line in lines if str(command).encode() in line.split(b"\0")]


def wait_for(condition: Callable[[], bool | list[bytes]], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a process that has ended meanwhile
            if condition():
                return True
        time.sleep(0.1)
    return False


def test_a_suite_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert conformance.main([f"--build={tmp_path}", f"--vv={tmp_path}", "--suites=vv"]) == 2
    assert "does not contain the tests of OpenMP Validation and Verification" in capfd.readouterr().err


def test_run_lines(tmp_path: Path) -> None:
    commands = llvm.run_lines("// RUN: %libomp-compile -DX \\\n// RUN:   -DY && %libomp-run\n// RUN: %libomp-run 2\n")
    test = llvm.Test(tmp_path, tmp_path / "a.c", "FileCheck", "clang", "clang++")
    made = test.case("a.c", "clang", commands)
    assert len(made.builds) == 1 and "-DX" in made.builds[0] and made.builds[0].endswith("-DY")
    assert made.runs == (f"{case.LAUNCH} {case.FOLDER}/program0", f"{case.LAUNCH} {case.FOLDER}/program0 2")
    test = llvm.Test(tmp_path, tmp_path / "b.c", "/x/FileCheck", "clang", "clang++")
    made = test.case("b.c", "clang", ["%libomp-cxx-compile-and-run | FileCheck %s", "%libomp-compile -DZ",
                                      "env A=B %libomp-run > %t.out"])
    assert [build.split()[0] for build in made.builds] == ["clang++", "clang"]
    assert made.runs[0] == f"{case.LAUNCH} {case.FOLDER}/program0 | /x/FileCheck {tmp_path}/b.c"
    assert made.runs[1] == f"env A=B {case.LAUNCH} {case.FOLDER}/program1 > {case.FOLDER}/program1.out"


def test_supported() -> None:
    here = {"linux", "clang", "ompt"}
    assert llvm.is_supported("// REQUIRES: linux, clang\n", "a.c", here)
    assert not llvm.is_supported("// REQUIRES: hwloc\n", "a.c", here)
    assert not llvm.is_supported("// UNSUPPORTED: gcc, clang\n", "a.c", here)
    assert llvm.is_supported("", "ompt/a.c", here)
    assert not llvm.is_supported("", "ompt/a.c", here - {"ompt"})


@pytest.mark.parametrize(
    ("selector", "result"),
    [
        ("target { ! *-*-* }", False),
        ("{ ! run_expensive_tests }", True),
        ("target { lp64 && { ! lp64 } }", False),
        ("target i?86-*-* x86_64-*-*", True),
        ("target { vect_simd_clones && lto }", True),
        ("offload_device", False),
        ("! offload_device", True),
        ("target *-*-darwin* || *-*-aix*", False),
    ],
)
def test_selectors(selector: str, result: bool) -> None:
    assert libgomp.holds(selector) == result


def test_directives(tmp_path: Path) -> None:
    root = tmp_path / "libgomp" / "testsuite"
    for folder in libgomp.FOLDERS:
        (root / folder).mkdir(parents=True)
    text = (
        '/* { dg-do run } */\n/* { dg-additional-options "-DA" } */\n/* { dg-set-target-env-var OMP_CANCELLATION "true"'
        ' } */\n'
    )
    text += '/* { dg-shouldfail "" } */\n/* { dg-output "said: \\\\\\[1\\\\\\](\\n|$)" } */\n'
    (root / "libgomp.c" / "a.c").write_text(text)
    (root / "libgomp.c" / "compiled.c").write_text("/* { dg-do compile } */\n")
    (root / "libgomp.c" / "device.c").write_text("/* { dg-require-effective-target offload_device } */\n")
    (root / "libgomp.c-c++-common" / "both.c").write_text("int main() {}\n")
    found = {made.name: made for made in libgomp.cases(root) if made.compiler == "gcc"}
    wanted = {"libgomp.c/a.c"} if case.compiler_for("gcc", "c") else set()
    wanted |= {f"libgomp.c-c++-common/both.c ({language})"
               for language in ("c", "c++") if case.compiler_for("gcc", language)}
    assert set(found) == wanted
    if wanted:
        made = found["libgomp.c/a.c"]
        assert "-O2 -DA" in made.builds[0] and made.environment == {"OMP_CANCELLATION": "true"}
        assert made.passes(1, "steelyard: x\n  y\nsaid: [1]\n")
        assert not made.passes(0, "said: [1]\n") and not made.passes(1, "said: 1\n")


def test_environment_of_a_name() -> None:
    assert vv.environment("test_omp_places_env_cores")["OMP_PLACES"] == "cores"
    assert "OMP_PLACES" not in vv.environment("test_parallel_for")

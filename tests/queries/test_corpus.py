# SPDX-License-Identifier: BSD-3-Clause
"""Which thread queries of compiled loops are proved: of programs whose regions are known to be right in a team of any
size, or not.

Each source is compiled by each gcc and gfortran that is found, with many options. A region that is unsafe and called
safe would give a user wrong results; one that is safe and not called so keeps its thread count."""

from __future__ import annotations

import functools
import itertools
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LIST = Path(os.environ["STEELYARD_LIST_QUERIES"])
COMPILERS = {".c": ("gcc", "gcc-11", "gcc-13", "gcc-14"), ".cpp": ("g++", "g++-11", "g++-13", "g++-14"),
             ".f90": ("gfortran", "gfortran-11", "gfortran-13", "gfortran-14")}
# Options that change different parts of the code stand together: each set takes 6 s of a core to compile.
OPTIONS = ("-O0", "-O1 -fno-plt", "-O2", "-O3", "-Os -fcf-protection=full", "-O3 -march=x86-64-v3 -ffast-math",
           "-O3 -march=x86-64-v4 -mprefer-vector-width=512 -funroll-loops",
           "-O2 -no-pie -fno-pie -fno-omit-frame-pointer", "-O2 -shared -fPIC")
OF_THIS_MACHINE = "-O3 -march=native"
LEAST_SHARE = 0.95  # of safe queries that are proved, on any machine


def found(suffix: str) -> list[str]:
    return [compiler for compiler in COMPILERS[suffix] if shutil.which(compiler)]


def compiled(source: Path, compiler: str, options: str, folder: Path) -> Path:
    program = folder / f"{source.stem}{source.suffix}.out"
    subprocess.run([compiler, *options.split(), "-fopenmp", "-w", str(source), "-lm", "-o", str(program)], check=True)
    return program


@functools.cache
def queries(source: Path, compiler: str, options: str) -> list[tuple[str, bool, str]]:
    """Of each query: the name of its function, whether it is proved, and why not."""
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run([str(LIST), str(compiled(source, compiler, options, Path(folder)))], check=True,
                                capture_output=True, text=True).stdout
    found = (line.split("\t") for line in listed.splitlines())
    return [(name, proved == "1", reason) for name, proved, reason in found]


CASES = [(source, compiler, options) for source in sorted(HERE.glob("*safe*.*")) for compiler in found(source.suffix)
         for options in (*OPTIONS, OF_THIS_MACHINE)]


@pytest.mark.parametrize(("source", "compiler", "options"),
                         [case for case in CASES if case[0].stem.startswith("unsafe")],
                         ids=lambda value: value.name if isinstance(value, Path) else value)
def test_no_unsafe_query_is_proved(source: Path, compiler: str, options: str) -> None:
    proved_of: dict[str, list[bool]] = {}
    for name, proved, _ in queries(source, compiler, options):
        proved_of.setdefault(name.rstrip("_"), []).append(proved)
    assert len(proved_of) > 1
    # Each such region has a query that is not proved. The compiler's own beside it may be.
    wrong = [name for name, proved in proved_of.items() if name.startswith("unsafe") and all(proved)]
    assert not wrong, f"{compiler} {options}: {wrong}"


def test_safe_queries_are_proved() -> None:
    count, missed = 0, []
    for source, compiler, options in CASES:
        if source.stem != "safe" or options == OF_THIS_MACHINE:
            continue
        for name, proved, reason in queries(source, compiler, options):
            count += 1
            if not proved:
                missed.append(f"{source.name} {compiler} {options}: {name} {reason}")
    print("\n".join(missed))
    print(f"{count} safe queries, {count - len(missed)} proved")
    assert count > 100 and len(missed) <= (1 - LEAST_SHARE) * count


def must_be_proved() -> Iterator[tuple[Path, str, str, str]]:
    of_c = [*itertools.product(("safe_collapsed_simd", "safe_unless_it_ends", "safe_one_loop_or_the_other",
                                "safe_kept_over_a_call"), ("-O2", "-O3")),
            *itertools.product(("safe_switch", "safe_switch_in_a_switch", "safe_switch_on_index"), OPTIONS),
            *itertools.product(("safe_switch_on_letters", "safe_switch_around_loops"), ("-O0", "-O2", "-O3")),
            ("safe_remainder_by_a_constant", "-O1 -fno-plt")]
    of_fortran = [("safe_after_either_loop", "-O2"), ("safe_passes_addresses", "-O2"), ("safe_passes_addresses", "-O3"),
                  *itertools.product(("safe_select",), OPTIONS)]
    for source, cases in ((HERE / "safe.c", of_c), (HERE / "safe.f90", of_fortran)):
        for compiler, (name, options) in itertools.product(found(source.suffix), cases):
            yield source, compiler, name, options


@pytest.mark.parametrize(("source", "compiler", "name", "options"), list(must_be_proved()),
                         ids=lambda value: value.name if isinstance(value, Path) else value)
def test_loops_of_applications_are_proved(source: Path, compiler: str, name: str, options: str) -> None:
    its_own = [query for query in queries(source, compiler, options) if query[0].rstrip("_") == name]
    assert its_own and all(proved for _, proved, _ in its_own), its_own


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("compiler", found(".c"))
def test_threads_that_wait_are_not_run_one_after_the_other(compiler: str, options: str, tmp_path: Path) -> None:
    listed = subprocess.run([str(LIST), "--bodies", str(compiled(HERE / "waiting.c", compiler, options, tmp_path))],
                            check=True,
                            capture_output=True, text=True).stdout
    reason_of = dict(line.split("\t") for line in listed.splitlines())
    waits = {name: reason for name, reason in reason_of.items() if name.startswith("waits")}
    goes_on = {name: reason for name, reason in reason_of.items() if name.startswith("goes_on")}
    assert len(waits) >= 21 and len(goes_on) == 8
    assert not [name for name, reason in waits.items() if not reason]
    # Not all of them have queries that are proved, with each set of options.
    assert len([name for name, reason in goes_on.items() if reason]) <= 1, goes_on


@pytest.mark.parametrize(("statements", "proved"), [(1500, True), (2000, False)])
def test_a_long_function_is_analysed_in_time_or_not_at_all(statements: int, proved: bool, tmp_path: Path) -> None:
    """Around the limits of src/partition: 1,500 statements are about 19,000 instructions with as many ways to meet."""
    lines = "".join(f"    if (x[i] > {k}.5) y[i] += {k} * x[i + {k % 7}];\n" for k in range(statements))
    source = tmp_path / "long.c"
    source.write_text("double x[2000], y[2000];\nvoid f(void) {\n#pragma omp parallel for\n"
                      f"  for (int i = 0; i < 1000; ++i) {{\n{lines}  }}\n}}\nint main(void) {{ f(); }}\n")
    program = compiled(source, found(".c")[0], "-O1", tmp_path)
    begin = time.monotonic()
    listed = subprocess.run([str(LIST), str(program)], check=True, capture_output=True, text=True).stdout.splitlines()
    took = time.monotonic() - begin
    print(f"{statements} statements: {took:.2f} s")
    assert len(listed) == 2 and all((line.split("\t")[1] == "1") == proved for line in listed), listed
    assert took < 10  # on a loaded machine


def test_a_damaged_program_is_read_without_a_crash(tmp_path: Path) -> None:
    """Wrong bytes anywhere: in its headers, unwind tables, tables of landing pads, or code."""
    program = tmp_path / "program"
    subprocess.run([found(".cpp")[0], "-O2", "-fopenmp", "-w", str(HERE / "safe.cpp"), "-o", str(program)], check=True)
    right = program.read_bytes()
    seed = random.randrange(1 << 40)
    print(f"seed {seed}")
    dice = random.Random(seed)
    for _ in range(100):
        wrong = bytearray(right)
        for _ in range(dice.choice((3, 30, 300))):
            wrong[dice.randrange(64, len(wrong))] = dice.randrange(256)
        program.write_bytes(wrong)
        status = subprocess.run([str(LIST), str(program)], capture_output=True, timeout=60).returncode
        assert status in (0, 2), (seed, status)

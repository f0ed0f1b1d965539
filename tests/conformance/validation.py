# SPDX-License-Identifier: BSD-3-Clause
"""The OpenMP 3.1 validation suite, from which later suites took tests; the only one with Fortran's loops orphaned and
not.

Its own Perl scripts write each test from a template: in place, and with its constructs in functions of their own
("orphan").
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from case import COMPILERS, FOLDER, LAUNCH, Case, compiler_for, first_folder, sources

NAME = "validation"
TITLE = "OpenMP 3.1 validation suite"
ADDRESS = "https://github.com/cniethammer/openmp_validation_suite"
PARTS = ("src",)

PATIENCE = {"do_schedule_guided": 400.0}
"""Seconds for tests that sleep for whole seconds: 20 repetitions of 8 or more chunks, each with a sleep of 1 s."""


def find(root: Path) -> Path | None:
    return first_folder(root, ("src", "."), "template_parser_fortran.pl")


def cases(root: Path) -> Iterator[Case]:
    for language, folder in (("c", "c"), ("fortran", "fortran")):
        for path, name, _ in sources(root, root / folder):
            if "<ompts:testcode>" not in path.read_text(errors="replace"):
                continue
            for family in COMPILERS:
                if compiler := compiler_for(family, language):
                    yield case(root, path, name, family, compiler, orphan=False)
                    yield case(root, path, f"{name} (orphan)", family, compiler, orphan=True)


def case(root: Path, path: Path, name: str, family: str, compiler: str, orphan: bool) -> Case:
    made = f"{FOLDER}/{path.name}"
    kind = "--test --orphan" if orphan else "--test"
    builds = [f"cd {quote(str(root))}"]
    if path.suffix == ".c":
        builds.append(f"perl ompts_makeHeader.pl -f=ompts-c.conf -t=c -o={FOLDER}/omp_testsuite.h")
    builds += [
        f"perl template_parser_{path.parent.name}.pl {kind} {quote(str(path))} {made}",
        f"{compiler} -O2 -fopenmp -w -I{FOLDER} -I{quote(str(root))} {made} -o {FOLDER}/program -lm",
    ]
    run = f"mkdir -p bin/c bin/fortran && {LAUNCH} {FOLDER}/program"  # they write a log into these folders
    return Case(NAME, name, family, tuple(builds), (run,), patience=PATIENCE.get(path.stem, 0))

# SPDX-License-Identifier: BSD-3-Clause
"""The OpenMP Validation and Verification suite. Tests for devices run on the host, as OpenMP demands where there is no
device."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from case import COMPILERS, FOLDER, LAUNCH, Case, compiler_for, first_folder, sources

NAME = "vv"
TITLE = "OpenMP Validation and Verification"
ADDRESS = "https://github.com/OpenMP-Validation-and-Verification/OpenMP_VV"
PARTS = ("ompvv", "tests")

FLAGS = {
    "gcc": "-O3 -fopenmp -foffload=disable",
    "gfortran": "-O3 -fopenmp -foffload=disable -ffree-line-length-none",
    "clang": "-O3 -fopenmp",
}


def find(root: Path) -> Path | None:
    return first_folder(root, (".",), "ompvv/ompvv.h")


def cases(root: Path) -> Iterator[Case]:
    for path, name, language in sources(root, root / "tests"):
        for family in COMPILERS:
            if compiler := compiler_for(family, language):
                yield case(root, path, name, family, compiler)


def case(root: Path, path: Path, name: str, family: str, compiler: str) -> Case:
    version = name.split("/")[1].replace(".", "")
    flags = FLAGS[family] + (f" -fopenmp-version={version}" if family == "clang" else "")
    if path.suffix == ".cpp":
        flags += " -std=c++17"
    if family == "gfortran":
        flags += f" -cpp -J{FOLDER}"
    build = f"{compiler} {flags} -I{quote(str(root / 'ompvv'))} {quote(str(path))} -o {FOLDER}/program -lm"
    return Case(NAME, name, family, (build,), (f"{LAUNCH} {FOLDER}/program",), environment(path.stem))


def environment(stem: str) -> dict[str, str]:
    """What the suite's run_test.sh and Makefile set. test_<variable>_env_<value> wants this variable."""
    limit = {"OMP_THREAD_LIMIT": str(os.cpu_count())}
    if "_THREADS_RESERVE" in stem:
        return {"OMP_THREAD_LIMIT": "16", "OMP_THREADS_RESERVE": "structured(5),free_agent(2)"}
    named = re.fullmatch(r"test_(.*)_env_([^.]*)", stem)
    return limit | ({named[1].upper(): named[2]} if named else {})

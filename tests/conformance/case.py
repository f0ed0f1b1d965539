# SPDX-License-Identifier: BSD-3-Clause
"""One program of a conformance suite: how it is compiled, how it is run, and what counts as a pass."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LAUNCH = "@LAUNCH@"
"""Stands in a command of `Case.runs` where `steelyard run ...` goes. Replaced by nothing in a native run."""

FOLDER = "@FOLDER@"
"""Stands for the folder of the case, which holds what its compiler wrote."""

COMPILERS: dict[str, dict[str, tuple[str, ...]]] = {
    "gcc": {"c": ("gcc",), "c++": ("g++",)},
    "gfortran": {"fortran": ("gfortran",)},
    "clang": {"c": ("clang-19", "clang"), "c++": ("clang++-19", "clang++")},
}
"""For each compiler family: by language, the commands to try, the first found is used."""

LANGUAGES = {".c": "c", ".cpp": "c++", ".cc": "c++", ".C": "c++"} | dict.fromkeys(
    (".f", ".F", ".f90", ".F90", ".f95", ".F95", ".f03", ".F03", ".f08", ".F08"), "fortran"
)


@dataclass(frozen=True)
class Case:
    suite: str
    name: str
    """The path of the source inside its suite."""
    compiler: str
    builds: tuple[str, ...]
    """Shell commands, run once, in this order."""
    runs: tuple[str, ...]
    """Shell commands. Each must succeed, natively and under Steelyard."""
    environment: dict[str, str] = field(default_factory=dict)
    must_fail: bool = False
    """The program is right if it ends with an error."""
    patience: float = 0
    """Seconds that the program needs at least on a busy machine, if that is longer than the runner's limit."""
    output: str = ""
    """A regular expression that the output must contain."""

    @property
    def label(self) -> str:
        return f"{self.suite}/{self.compiler}/{self.name}"

    def passes(self, status: int, output: str) -> bool:
        if (status != 0) != self.must_fail:
            return False
        return re.search(self.output, without_summary(output)) is not None


def compiler_for(family: str, language: str) -> str | None:
    """The path of the command that compiles `language`, or None if `family` has none on this machine."""
    found = (shutil.which(name) for name in COMPILERS[family].get(language, ()))
    return next((path for path in found if path), None)


def sources(root: Path, folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Each source file below `folder` in alphabetical order: path, name inside `root`, language."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in LANGUAGES and path.is_file():
            yield path, path.relative_to(root).as_posix(), LANGUAGES[path.suffix]


def without_summary(output: str) -> str:
    """`output` without Steelyard's own lines: a line that starts with its name, and the indented lines below."""
    return re.sub(r"^steelyard\b.*\n(?:  .*\n)*", "", output, flags=re.MULTILINE)


def first_folder(root: Path, candidates: tuple[str, ...], mark: str) -> Path | None:
    """The first of root/`candidates` that contains `mark`."""
    return next((root / name for name in candidates if (root / name / mark).exists()), None)

# SPDX-License-Identifier: BSD-3-Clause
"""The compilers of a campaign."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from .program import SUFFIXES, Program

NAMES = {
    ("gcc", "c"): ("gcc",),
    ("gcc", "c++"): ("g++",),
    ("gcc", "fortran"): ("gfortran",),
    ("clang", "c"): ("clang-19", "clang"),
    ("clang", "c++"): ("clang++-19", "clang++"),
}
FLAGS = {
    "c": ["-std=gnu11"],
    "c++": ["-std=gnu++17"],
    "fortran": ["-std=f2018", "-fall-intrinsics", "-ffree-line-length-none"],
}
COMPILE_TIMEOUT = 300  # s: seconds on an idle machine


def compiler(family: str, language: str) -> str | None:
    """The compiler's path, or None if it is not installed."""
    names = NAMES.get((family, language), ())
    return next((path for name in names if (path := shutil.which(name))), None)


def found(families: list[str]) -> tuple[str, ...]:
    """Those of `families` whose compilers of C and C++ are installed."""
    return tuple(f for f in families if compiler(f, "c") and compiler(f, "c++"))


def link_libomp(folder: Path) -> Path | None:
    """Makes libgomp's name in `folder` a link to libomp. None where libomp is not installed. With LD_PRELOAD the
    process would have both, and libgomp's binding of the first thread would count for libomp, too."""
    name = subprocess.run(["gcc", "-print-file-name=libomp.so.5"], capture_output=True, text=True).stdout.strip()
    if not Path(name).is_absolute():
        return None
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "libgomp.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(Path(name).resolve())
    return folder


def build(program: Program, family: str, directory: Path, name: str = "program",
          flags: tuple[str, ...] = ()) -> tuple[Path | None, str]:
    """The executable, or None and what the compiler says."""
    path = compiler(family, program.language)
    if path is None:
        return None, f"no compiler of {family} for {program.language}"
    source = directory / f"{name}{SUFFIXES[program.language]}"
    source.write_text(program.source())
    executable = directory / f"{name}.{family}"
    modules = [f"-J{directory}"] if program.language == "fortran" else []
    command = [path, *FLAGS[program.language], *modules, "-O1", "-w", "-fopenmp", "-pthread", *flags, str(source), "-o",
               str(executable)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_TIMEOUT)
    except subprocess.TimeoutExpired:
        return None, "the compiler does not end"
    return (executable, "") if result.returncode == 0 else (None, result.stderr)


def command_text(program: Program, family: str, source: str, executable: str) -> str:
    """The compilation as a user would type it."""
    path = compiler(family, program.language) or family
    return " ".join([Path(path).name, *FLAGS[program.language], "-O1 -w -fopenmp -pthread", source, "-o", executable])

# SPDX-License-Identifier: BSD-3-Clause
"""The compilers of a campaign."""

from __future__ import annotations

import os
import re
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
WRAPPERS = {"c": "CC", "c++": "CXX", "fortran": "FC"}  # MPI's; the compiler that it calls is in OMPI_CC, MPICH_CC, ...
COMPILE_TIMEOUT = 300  # s: seconds on an idle machine


def compiler(family: str, language: str) -> str | None:
    """The compiler's path, or None if it is not installed."""
    names = NAMES.get((family, language), ())
    return next((path for name in names if (path := shutil.which(name))), None)


def found(families: list[str]) -> tuple[str, ...]:
    """Those of `families` whose compilers of C and C++ are installed."""
    return tuple(f for f in families if compiler(f, "c") and compiler(f, "c++"))


def mpi_commands(build: Path) -> dict[str, dict[str, str]]:
    """Of each MPI that the build has found: launcher (RUN) and compiler wrappers (CC, CXX, FC)."""
    result: dict[str, dict[str, str]] = {}
    for flavour, name, path in re.findall(r"^STEELYARD_([a-z]+)_(CC|CXX|FC|RUN):\w+=(\S+)$",
                                          (build / "CMakeCache.txt").read_text(), re.MULTILINE):
        if not path.endswith("NOTFOUND"):
            result.setdefault(flavour, {})[name] = path
    return {flavour: commands for flavour, commands in result.items() if {"RUN", "CC", "CXX"} <= set(commands)}


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


def _wrapped(program: Program, path: str, wrappers: dict[str, str]) -> tuple[str | None, dict[str, str]]:
    """What compiles a program by the compiler at `path`, and its variables."""
    if not program.mpi:
        return path, {}
    wrapper = WRAPPERS[program.language]
    return wrappers.get(wrapper), {f"OMPI_{wrapper}": path, f"MPICH_{wrapper}": path}


def build(program: Program, family: str, directory: Path, name: str = "program",
          flags: tuple[str, ...] = (), wrappers: dict[str, str] | None = None) -> tuple[Path | None, str]:
    """The executable, or None and what the compiler says.

    @param wrappers of the program's MPI
    """
    path, variables = compiler(family, program.language), {}
    if path is not None:
        path, variables = _wrapped(program, path, wrappers or {})
    if path is None:
        return None, f"no compiler of {family} for {program.language}"
    source = directory / f"{name}{SUFFIXES[program.language]}"
    source.write_text(program.source())
    executable = directory / f"{name}.{family}"
    modules = [f"-J{directory}"] if program.language == "fortran" else []
    command = [path, *FLAGS[program.language], *modules, *program.flags, "-w", "-fopenmp", "-pthread", *flags,
               str(source), "-o", str(executable)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_TIMEOUT,
                                env=os.environ | variables)
    except subprocess.TimeoutExpired:
        return None, "the compiler does not end"
    return (executable, "") if result.returncode == 0 else (None, result.stderr)


def command_text(program: Program, family: str, source: str, executable: str,
                 wrappers: dict[str, str] | None = None) -> str:
    """The compilation as a user would type it."""
    path, variables = _wrapped(program, compiler(family, program.language) or family, wrappers or {})
    words = [f"{name}={value}" for name, value in variables.items()]
    return " ".join([*words, Path(path or family).name, *FLAGS[program.language], *program.flags,
                     "-w -fopenmp -pthread", source, "-o", executable])

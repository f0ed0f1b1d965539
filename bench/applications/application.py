# SPDX-License-Identifier: BSD-3-Clause
"""What is known of an application that was written elsewhere: where it comes from, how it is built and run, how its
result is read.

Nothing of an application stands in this repository. Its source comes from a folder that the user names, or from its
address; or its program is that of a package."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))
from harness import Failed  # noqa: E402

COMPILERS = {"gcc": {"cxx": "g++", "cc": "gcc", "fc": "gfortran"},
             "clang": {"cxx": "clang++-19", "cc": "clang-19", "fc": "gfortran"}}
WIDE = ((2, 8), (4, 4), (8, 2))  # of 16 cores: ranks, threads of each


@dataclass(frozen=True)
class Input:
    """`arguments` may name {file}: that with the text `text`. Both may name {ranks} and {threads}."""

    name: str
    arguments: str
    balanced: bool
    text: str = ""
    file: str = "input"  # its name, for a program that looks for one
    layouts: tuple[tuple[int, int], ...] = ((2, 1), (2, 2), (4, 1))  # ranks, threads of each
    cores: int = 0  # for machines with at least so many


@dataclass(frozen=True)
class Application:
    """Either `source`, `commit` and `build`, or `package`."""

    name: str
    program: str  # in `folder`
    inputs: tuple[Input, ...]
    timer: str  # the program's own: a pattern with one group
    result: str  # numbers that must be the same whichever method runs it: a pattern
    source: str = ""  # a repository
    commit: str = ""
    build: str = ""  # in `folder`, with {cxx}, {cc} and {fc}: compilers of the MPI
    package: str = ""  # of Debian, whose program is run as it is
    folder: str = "."
    second: float = 1.0  # as the timer counts
    tolerance: float = 0.0  # relative, of the result: what another OMP_NUM_THREADS changes
    output: str = ""  # files in the working folder that belong to the output, as a pattern of the shell
    flavours: tuple[str, ...] = ("openmpi", "mpich")
    compilers: tuple[str, ...] = ("gcc", "clang")
    flags: dict[str, str] = field(default_factory=dict)  # by compiler, for {flags}
    files: dict[str, str] = field(default_factory=dict)  # text by name, of files that are put beside its source

    def sources(self, named: Path | None, cache: Path) -> Path:
        """The folder with its source: DIR/name of those that the user names, or cloned."""
        if named is not None:
            for folder in (named / self.name, named / Path(self.source).name):
                if folder.is_dir():
                    return folder
            raise Failed(f"{self.name}: neither {named / self.name} nor {named / Path(self.source).name} is there: put "
                         f"its source there ({self.source}), or leave out --sources")
        folder = cache / self.name
        if not folder.is_dir():
            cache.mkdir(parents=True, exist_ok=True)
            cloned = subprocess.run(["git", "clone", "--quiet", self.source, str(folder)], capture_output=True,
                                    text=True)
            if cloned.returncode != 0:
                raise Failed(f"{self.name}: cannot be cloned from {self.source}: {cloned.stderr.strip()}; name a "
                             f"folder with --sources=DIR")
            subprocess.run(["git", "-C", str(folder), "checkout", "--quiet", self.commit], check=True)
        return folder

    def installed(self) -> Path:
        """The program of its package."""
        if found := shutil.which(self.program):
            return Path(found)
        raise Failed(f"{self.name}: {self.program} is not installed: apt-get install {self.package}")

    def built(self, source: Path, flavour: str, compiler: str, cache: Path) -> Path:
        """The program, built in a copy of its source. A build is done once."""
        copy = cache / f"{self.name}.{flavour}.{compiler}"
        program = copy / self.folder / self.program
        if program.exists():
            return program
        if copy.exists():
            shutil.rmtree(copy)
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".git", "*.o", Path(self.program).name))
        for name, text in self.files.items():
            (copy / name).write_text(text)
        kinds = COMPILERS[compiler]
        words = {"cxx": f"mpicxx.{flavour}", "cc": f"mpicc.{flavour}", "fc": f"mpif90.{flavour}",
                 "flags": self.flags.get(compiler, "")}
        # Each MPI's compiler wrapper has variables of its own for the compiler behind it.
        behind = {"OMPI_CXX": kinds["cxx"], "OMPI_CC": kinds["cc"], "OMPI_FC": kinds["fc"], "MPICH_CXX": kinds["cxx"],
                  "MPICH_CC": kinds["cc"], "MPICH_FC": kinds["fc"]}
        done = subprocess.run(self.build.format(**words), shell=True, cwd=copy / self.folder, env=os.environ | behind,
                              capture_output=True, text=True)
        if done.returncode != 0 or not program.exists():
            raise Failed(f"{self.name}: cannot be built by {compiler} for "
                         f"{flavour}:\n{(done.stdout + done.stderr)[-1500:]}")
        return program

    def read(self, output: str) -> tuple[float, tuple[float, ...]]:
        """Seconds by its own timer, and its result."""
        seconds = re.findall(self.timer, output)
        result = re.findall(self.result, output)
        if not seconds or not result:
            raise Failed(f"{self.name}: its output has no {'time' if not seconds else 'result'}:\n{output[-1500:]}")
        numbers = [float(word) for found in result for word in ([found] if isinstance(found, str) else found)]
        return float(seconds[-1]) / self.second, tuple(numbers)

    def difference(self, result: tuple[float, ...], native: tuple[float, ...]) -> str:
        """The first one between two results; empty where they agree."""
        if len(result) != len(native):
            return f"there are {len(result)} numbers, natively {len(native)}"
        for place, (a, b) in enumerate(zip(result, native), 1):
            if abs(a - b) > self.tolerance * max(abs(a), abs(b)):
                return f"number {place} of {len(result)} is {a:.12g}, natively {b:.12g}"
        return ""

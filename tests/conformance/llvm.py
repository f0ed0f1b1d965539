# SPDX-License-Identifier: BSD-3-Clause
"""LLVM's own tests of its OpenMP run-time library: `// RUN:` lines, without lit.

A compile command gives each program a name of its own, so that it runs once, however often the test runs the program.
Tests that use FileCheck are left out where that is not installed (Debian: llvm-19-tools).
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from case import COMPILERS, FOLDER, LAUNCH, Case, compiler_for, first_folder, sources

NAME = "llvm"
TITLE = "LLVM's OpenMP run-time library"
ADDRESS = "https://github.com/llvm/llvm-project"
PARTS = ("openmp/runtime/test",)

FEATURES = {
    "clang": {"clang", "clang-19"},
    "gcc": {"gcc", "gnu", "gcc-12"},
    "all": {"linux", "affinity", "hidden-helper", "multicpu", "x86-target-arch", "x86_64-target-arch"},
}
FOLDER_NEEDS = {"ompt": "ompt", "taskgraph": "ompx_taskgraph"}
"""What lit.local.cfg of a folder asks for."""

COMPILES = {
    "cxx-compile-c": ("%clangXX", "-std=c++17 -x c++"),
    "cxx20-compile": ("%clangXX", "-std=c++20"),
    "cxx-compile": ("%clangXX", "-std=c++17"),
    "irbuilder-compile": ("%clang", "-fopenmp-enable-irbuilder"),
    "c99-compile": ("%clang", "-std=c99"),
    "compile": ("%clang", ""),
}


def find(root: Path) -> Path | None:
    return first_folder(root, ("openmp/runtime/test", "runtime/test", "."), "lit.cfg")


def cases(root: Path) -> Iterator[Case]:
    checker = next(filter(None, map(shutil.which, ("FileCheck-19", "FileCheck", "/usr/lib/llvm-19/bin/FileCheck"))),
                   None)
    for path, name, _ in sources(root, root):
        text = path.read_text(errors="replace")
        commands = run_lines(text)
        for family in COMPILERS:
            available = FEATURES["all"] | FEATURES.get(family, set()) | ({"ompt"} if checker else set())
            compilers = compiler_for(family, "c"), compiler_for(family, "c++")
            if commands and all(compilers) and is_supported(text, name, available):
                if checker or "FileCheck" not in "".join(commands):
                    yield Test(root, path, checker, *compilers).case(name, family, commands)


def run_lines(text: str) -> list[str]:
    """The commands of the RUN lines; a backslash at the end of a line joins the next line."""
    lines = re.findall(r"RUN:[ \t]*(.*?)[ \t]*$", text, re.MULTILINE)
    return [line for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines() if line]


def is_supported(text: str, name: str, available: set[str]) -> bool:
    needed = [FOLDER_NEEDS[part] for part in Path(name).parts if part in FOLDER_NEEDS]
    needed += [word for line in re.findall(r"REQUIRES:(.*)", text)
               for word in re.split(r"[\s,]+", line.strip()) if word]
    excluded = {word for line in re.findall(r"UNSUPPORTED:(.*)", text) for word in re.split(r"[\s,]+", line.strip())}
    return available.issuperset(needed) and not available & excluded


class Test:
    def __init__(self, root: Path, source: Path, checker: str | None, c: str | None, cxx: str | None):
        flags = f"-I {quote(str(root))} -I {quote(str(root / 'ompt'))} -fno-omit-frame-pointer"
        self.builds: list[str] = []
        self.words = {
            "clangXX": str(cxx),
            "clang": str(c),
            "openmp_flags": "-fopenmp",
            "flags-use-compiler-omp-h": flags,
            "flags": flags,
            "libomp-run": f"{LAUNCH} %t",
            "sort-threads": "sort -n -s",
            "python": sys.executable,
            "not": str(Path(str(checker)).with_name("not")),
            "preload-tool": "env LD_PRELOAD=%T/tool.so",
            "no-as-needed-flag": "-Wl,--no-as-needed",
            "s": quote(str(source)),
            "S": quote(str(source.parent)),
            "T": FOLDER,
        }
        self.checker = checker

    def case(self, name: str, family: str, commands: list[str]) -> Case:
        runs = []
        for command in commands:
            for part in re.sub(r"%libomp-((?:\w+-)?)compile-and-run", r"%libomp-\1compile && %libomp-run",
                               command).split("&&"):
                expanded = self.expand(part)
                if re.match(r"\s*%(libomp-(\w+-)?compile|clang)", part):
                    if expanded not in self.builds:
                        self.builds.append(expanded)
                else:
                    runs.append(self.named(expanded, max(len(self.builds) - 1, 0)))
        builds = tuple(self.named(build, number) for number, build in enumerate(self.builds))
        return Case(NAME, name, family, builds, tuple(runs))

    def expand(self, part: str) -> str:
        for suffix, (compiler, flags) in COMPILES.items():
            part = re.sub(rf"%libomp-{suffix}(?![\w-])", f"{compiler} %openmp_flags %flags {flags} %s -o %t -lm", part)
        names = "|".join(sorted(map(re.escape, self.words), key=len, reverse=True))
        for _ in range(2):  # the words contain %t and %T themselves
            part = re.sub(rf"(?<!%)%({names})(?![A-Za-z])", lambda match: self.words[match[1]], part)
        return re.sub(r"(?<![\w/-])FileCheck\b", str(self.checker), part)

    @staticmethod
    def named(command: str, number: int) -> str:
        return re.sub(r"%t(?![A-Za-z])", f"{FOLDER}/program{number}", command).replace("%%", "%").strip()

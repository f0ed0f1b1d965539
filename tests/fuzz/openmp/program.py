# SPDX-License-Identifier: BSD-3-Clause
"""A random program: some constructs behind each other, in one language, for certain compilers."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

# Importing the generators registers their kinds.
from . import (
    cancelling,
    cplusplus,
    fortran,
    loops,
    nests,
    ordering,
    prelude,
    sharing,
    surroundings,
    tasks,
)  # noqa: F401
from .construct import FAMILIES, KINDS, Construct, kinds_for

SUFFIXES = {"c": ".c", "c++": ".cpp", "fortran": ".f90"}


@dataclass(frozen=True)
class Program:
    """`constructs` keep their numbers when others are dropped, so that messages of both name the same."""

    language: str
    families: tuple[str, ...]
    constructs: tuple[tuple[int, Construct], ...]
    rounds: int

    @property
    def libomp_lacks(self) -> bool:
        """Whether gcc's binary cannot run on plain libomp."""
        return any(construct.libomp_lacks for _, construct in self.constructs)

    def only(self, numbers: set[int]) -> Program:
        """The program with these constructs alone."""
        return replace(self, constructs=tuple(pair for pair in self.constructs if pair[0] in numbers))

    @property
    def numbers(self) -> list[int]:
        return [number for number, _ in self.constructs]

    def source(self) -> str:
        return self._fortran() if self.language == "fortran" else self._c()

    def _c(self) -> str:
        parts = [prelude.C]
        if self.language == "c++":
            parts.append("#include <thread>\n#include <vector>\n")
        for number, construct in self.constructs:
            text = f"{construct.declarations}static void construct@(void) {{\n{construct.body}}}\n"
            parts.append(text.replace("@", str(number)))
        calls = "".join(f'    run({number}, "{c.kind}", construct{number});\n' for number, c in self.constructs)
        main = f"  for (int round = 0; round < {self.rounds}; ++round) {{\n{calls}  }}\n"
        return "".join([*parts, prelude.C_MAIN_BEGIN, main, prelude.C_MAIN_END])

    def _fortran(self) -> str:
        parts = [fortran.PRELUDE]
        calls = ""
        for number, construct in self.constructs:
            text = (
                "subroutine construct@()\nuse checks\nimplicit none\ninteger ::"
                f" repeat\n{construct.declarations}{construct.body}end subroutine\n"
            )
            parts.append(text.replace("@", str(number)))
            calls += (
                f"call begin_construct({number}, '{construct.kind}')\ncall construct{number}()\ncall end_construct()\n"
            )
        parts.append(
            f"program main\nuse checks\nimplicit none\ninteger :: round\ndo round = 1, {self.rounds}\n{calls}end do\n"
            "if (wrong /= 0) then\nprint '(a,z16.16)', 'wrong ', checksum\nstop 1\nend if\n"
            "print '(a,z16.16)', 'ok ', checksum\nend program\n"
        )
        return "".join(parts)


def random_program(rng: random.Random, families: tuple[str, ...] = FAMILIES, size: int = 40) -> Program:
    """A program for all of `families`, or for one of them, with what only that one compiles."""
    language = rng.choice(["c", "c", "c++", "c++", "fortran"] if "gcc" in families else ["c", "c++"])
    if language == "fortran":
        families = ("gcc",)
    elif rng.random() < 0.5:
        families = (rng.choice(families),)
    # Half of gcc's programs have nothing that libomp's GOMP interface lacks: they also run with --openmp=llvm.
    kinds = kinds_for(language, families, portable="gcc" in families and rng.random() < 0.5)
    weights = [k.weight for k in kinds]
    chosen = rng.choices(kinds, weights, k=size)
    constructs = tuple(enumerate(k.construct(rng) for k in chosen))
    return Program(language, families, constructs, rng.choice([1, 1, 2, 3]))


def program_of_kind(name: str, rng: random.Random, size: int = 3) -> Program:
    """A program of constructs of one kind."""
    k = KINDS[name]
    constructs = tuple(enumerate(k.construct(rng) for _ in range(size)))
    return Program(k.languages[0], k.families, constructs, 1)

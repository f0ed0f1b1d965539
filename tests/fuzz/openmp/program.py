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
    ranks,
    sharing,
    static_loops,
    surroundings,
    tasks,
)  # noqa: F401
from .construct import FAMILIES, KEEPS_COUNT, KINDS, SIZED_BY_COUNT, Construct, fill, kinds_for

SUFFIXES = {"c": ".c", "c++": ".cpp", "fortran": ".f90"}
OPTIMISED = ("-O0", "-O1", "-O1", "-O1", "-O2", "-O2", "-O3", "-Os", "-Ofast", "-O2 -march=native", "-O3 -march=native")
OF_GCC = ("-O2 -flto", "-O3 -funroll-loops", "-O1 -fsanitize=address")
RANKS_ROUNDS = (15, 25, 45)  # cores move once a sequence of collectives has repeated, which is a round
RANKS_SIZE = 8  # constructs


@dataclass(frozen=True)
class Program:
    """`constructs` keep their numbers when others are dropped, so that messages of both name the same."""

    language: str
    families: tuple[str, ...]
    constructs: tuple[tuple[int, Construct], ...]
    rounds: int
    flags: tuple[str, ...] = ("-O1",)
    mpi: str = ""  # the MPI of its ranks; without, it is one process

    @property
    def resizable(self) -> bool:
        """Whether it stays right where each region is resized: --thread-ids=resize."""
        return not any(construct.has(SIZED_BY_COUNT) for _, construct in self.constructs)

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
        mains = ranks if self.mpi else prelude
        return "".join([*parts, mains.C_MAIN_BEGIN, main, mains.C_MAIN_END])

    def _fortran(self) -> str:
        parts = [fortran.PRELUDE]
        calls = ""
        for number, construct in self.constructs:
            text = (
                "subroutine construct@()\nuse checks\nimplicit none\ninteger ::"
                f" repeat\n{construct.declarations}{construct.body}end subroutine\n"
            )
            parts.append(text.replace("@", str(number)))
            named = f"({number}, '{construct.kind}')\n"
            uneven = f"call come_uneven({number})\n" if self.mpi else ""
            calls += f"call begin_construct{named}{uneven}call construct{number}()\ncall end_construct{named}"
        main = fill(ranks.FORTRAN_MAIN if self.mpi else fortran.MAIN, rounds=self.rounds, calls=calls)
        return "".join([*parts, main])


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
    flags = rng.choice(OPTIMISED + (OF_GCC if families == ("gcc",) else ()))
    return Program(language, families, constructs, rng.choice([1, 1, 2, 3]), tuple(flags.split()))


def random_ranks(rng: random.Random, mpi: str, families: tuple[str, ...] = FAMILIES) -> Program:
    """A program of uneven ranks, whose teams are resized during the run."""
    program = random_program(rng, families, 3 * RANKS_SIZE)
    # One construct with such a clause, call or variable keeps the thread count of the rank.
    anything = rng.random() < 0.15
    chosen = [(number, construct.without_counts()) for number, construct in program.constructs
              if "initial threads" not in construct.kind]
    chosen = [pair for pair in chosen if anything or not pair[1].has(KEEPS_COUNT)]
    if rng.random() < 0.6:
        chosen = [pair for pair in chosen if not pair[1].has(SIZED_BY_COUNT)]
    return replace(program, constructs=tuple(chosen[:RANKS_SIZE]), rounds=rng.choice(RANKS_ROUNDS), mpi=mpi)


def program_of_kind(name: str, rng: random.Random, size: int = 3) -> Program:
    """A program of constructs of one kind."""
    k = KINDS[name]
    constructs = tuple(enumerate(k.construct(rng) for _ in range(size)))
    return Program(k.languages[0], k.families, constructs, 1)

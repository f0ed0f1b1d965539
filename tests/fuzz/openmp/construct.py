# SPDX-License-Identifier: BSD-3-Clause
"""A construct: one self-checking function of a generated program. Generators of constructs register here by kind."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from string import Template

FAMILIES = ("gcc", "clang")
C_LANGUAGES = ("c", "c++")
CLAUSE = re.compile(r" ?num_threads\(\d+\)")
# Checks of a count, single threads by their ID, and regions in regions.
NEEDS_CLAUSE = r"check_team|omp_get_thread_num\(\) == |omp_set_num_threads|max_active_levels|omp teams|cancel"
# These keep the thread count of a whole rank, unless options say otherwise.
KEEPS_COUNT = r"(?<!_)num_threads\(|omp_set_num_threads|threadprivate|thread_local|__thread"
# Wrong with --thread-ids=resize: then a clause with the program's own count, 1 to 3 here, fixes nothing.
SIZED_BY_COUNT = r"omp_get_max_threads|check_team\(promised, [1-3]\)"


@dataclass(frozen=True)
class Construct:
    """Text with `@` where the number of the construct goes, so that two of a kind fit into one program."""

    kind: str
    body: str
    declarations: str = ""
    libomp_lacks: bool = False  # libomp's copy of the GOMP interface does not support what gcc makes of it

    def has(self, words: str) -> bool:
        """Whether this expression is somewhere in its text."""
        return re.search(words, self.declarations + self.body) is not None

    def without_counts(self) -> Construct:
        """Regions without num_threads clauses, so that their teams can be resized, unless it depends on the clauses."""
        if self.has(NEEDS_CLAUSE):
            return self
        return replace(self, declarations=CLAUSE.sub("", self.declarations), body=CLAUSE.sub("", self.body))


@dataclass(frozen=True)
class Kind:
    """A generator and what its constructs need."""

    name: str
    weight: int
    languages: tuple[str, ...]
    families: tuple[str, ...]
    libomp_lacks: bool
    make: Callable[[random.Random], tuple[str, str]]

    def construct(self, rng: random.Random) -> Construct:
        """The next random construct of this kind."""
        declarations, body = self.make(rng)
        return Construct(self.name, body, declarations, self.libomp_lacks)


KINDS: dict[str, Kind] = {}


def kind(
    name: str,
    weight: int = 2,
    languages: tuple[str, ...] = C_LANGUAGES,
    families: tuple[str, ...] = FAMILIES,
    libomp_lacks: bool = False,
) -> Callable[[Callable[[random.Random], tuple[str, str]]], Callable[[random.Random], tuple[str, str]]]:
    """Registers a function that returns (declarations, body).

    @param weight how often the kind is chosen, beside the others
    @param families the compilers that can compile it
    @param libomp_lacks gcc's code of it does not run on plain libomp
    """

    def register(make: Callable[[random.Random], tuple[str, str]]) -> Callable[[random.Random], tuple[str, str]]:
        KINDS[name] = Kind(name, weight, languages, families, libomp_lacks, make)
        return make

    return register


def fill(template: str, /, **values: object) -> str:
    """`template` with each $name replaced."""
    return Template(template).substitute({name: str(value) for name, value in values.items()})


def kinds_for(language: str, families: tuple[str, ...], portable: bool) -> list[Kind]:
    """The kinds that all of `families` compile, and, if `portable`, that libomp runs for gcc."""
    return [
        k
        for k in KINDS.values()
        if language in k.languages and set(families) <= set(k.families) and not (portable and k.libomp_lacks)
    ]

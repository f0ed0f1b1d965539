# SPDX-License-Identifier: BSD-3-Clause
"""Loop headers: types, limits, directions, steps; and schedules with what OpenMP promises of each."""

from __future__ import annotations

import random
from dataclasses import dataclass

LIMITS = {
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "unsigned": (0, 2**32 - 1),
    "long": (-(2**63), 2**63 - 1),
    "unsigned long": (0, 2**64 - 1),
    "long long": (-(2**63), 2**63 - 1),
    "unsigned long long": (0, 2**64 - 1),
}
SUFFIXES = {"unsigned": "U", "long": "L", "unsigned long": "UL", "long long": "LL", "unsigned long long": "ULL"}


def literal(value: int, type_name: str) -> str:
    """`value` as C writes it; the least value of a signed type has no literal of its own."""
    if value == LIMITS[type_name][0] and value < 0:
        return f"({literal(value + 1, type_name)} - 1)"
    return f"{value}{SUFFIXES.get(type_name, '')}"


@dataclass(frozen=True)
class Shape:
    """`for (type i = first; i relation bound; i += step)` with `count` iterations."""

    type_name: str
    first: int
    step: int
    count: int
    relation: str
    bound: int
    variables: bool  # whether bounds and step are variables instead of constants

    def before(self, name: str) -> str:
        """The variables of the header, where it has any."""
        if not self.variables:
            return ""
        text = literal
        return (  # volatile, so that the compiler does not know the number of iterations
            f"volatile {self.type_name} {name}_v0 = {text(self.first, self.type_name)}, "
            f"{name}_v1 = {text(self.bound, self.type_name)}, {name}_v2 = {abs(self.step)};\n"
            f"{self.type_name} {name}_first = {name}_v0, {name}_bound = {name}_v1, {name}_step = {name}_v2;\n"
            f"(void){name}_first, (void){name}_bound, (void){name}_step;\n"
        )

    def header(self, name: str) -> str:
        """The `for (...)` with loop variable `name`."""
        first, bound, step = f"{name}_first", f"{name}_bound", f"{name}_step"
        if not self.variables:
            first, bound = literal(self.first, self.type_name), literal(self.bound, self.type_name)
            step = literal(abs(self.step), self.type_name)
        sign = "+" if self.step > 0 else "-"
        change = f"{name} {sign}= {step}"
        if abs(self.step) == 1 and not self.variables:
            change = f"{sign}{sign}{name}" if self.count % 2 else f"{name}{sign}{sign}"
        elif self.count % 3 == 1:
            change = f"{name} = {name} {sign} {step}"
        return f"for ({self.type_name} {name} = {first}; {name} {self.relation} {bound}; {change})"

    def index(self, name: str) -> str:
        """The number of the iteration, from 0."""
        first = f"(Word){literal(self.first, self.type_name)}"
        distance = f"((Word){name} - {first})" if self.step > 0 else f"({first} - (Word){name})"
        return f"(long)({distance} / {abs(self.step)}ULL)"


def random_shape(rng: random.Random, most: int = 300, least: int = 0, type_name: str | None = None) -> Shape:
    """A loop of `least` to `most` iterations, often close to a limit of its type."""
    type_name = type_name or rng.choice(["int"] * 4 + list(LIMITS))
    low, high = LIMITS[type_name]
    count = rng.choice([0, 1, 2, 3, rng.randint(1, 20), rng.randint(1, most), rng.randint(most // 2, most)])
    count = min(max(count, least), most)
    step = rng.choice([1, 1, 1, 2, 3, 7, rng.randint(1, 100)])
    if rng.random() < 0.1 and type_name != "short":
        step = rng.randint(2**16, (high - low) // 4 // (count + 2))
    step = min(step, (high - low) // 4 // (count + 2))
    # gcc 12 executes no iteration of a descending loop over `unsigned` that asks libgomp for its chunks.
    # libomp executes none of those over `unsigned long` that gcc compiled: rare, since such programs run with libgomp
    # alone.
    descending = {"unsigned": 0, "unsigned long": 0.1, "unsigned long long": 0.1}.get(type_name, 0.45)
    if rng.random() < descending:
        step = -step
    span = count * step
    middle = rng.randint(0, 50) + (max(0, -span) if low == 0 else 0)
    first = rng.choice([middle, middle, low + max(0, -span) + rng.choice([0, 0, 1, 5]),
                        high - max(0, span) - rng.choice([0, 0, 1, 5])])
    first = min(max(first, low + max(0, -span)), high - max(0, span))
    relations = [("<", first + span - rng.randint(0, abs(step) - 1) if count else first)]
    if first + span - 1 >= low:
        relations.append(("<=", first + span - 1))
    if step < 0:
        relations = [(">", first + span + rng.randint(0, abs(step) - 1) if count else first)]
        if first + span + 1 <= high:
            relations.append((">=", first + span + 1))
    if abs(step) == 1:
        relations.append(("!=", first + span))
    relation, bound = rng.choice(relations)
    # gcc 12 gets the number of iterations of a descending unsigned loop wrong if its step is a variable.
    # It also refuses a comparison that is false for each value of the type, such as `i < 0U`.
    variables = (relation, bound) in (("<", low), (">", high))
    variables = variables or rng.random() < 0.4 and relation != "!=" and not (low == 0 and step < 0)
    return Shape(type_name, first, step, count, relation, bound, variables)


@dataclass(frozen=True)
class Schedule:
    """A schedule clause. `monotonic` is a C expression that tells whether threads must see ascending iterations."""

    clause: str
    kind: str
    chunk: int | None
    monotonic: str


def random_schedule(rng: random.Random, ordered: bool = False, kinds: tuple[str, ...] = ()) -> Schedule:
    """Any schedule with any modifier that may go with it."""
    name = rng.choice(kinds or ("none", "static", "dynamic", "dynamic", "dynamic", "guided", "guided", "auto",
                                "runtime", "runtime"))
    if name == "none":
        return Schedule("", name, None, "0")
    chunk = rng.choice([None, None, 1, 2, 3, rng.randint(1, 40)]) if name in ("static", "dynamic", "guided") else None
    modifier = rng.choice(["", "", "", "monotonic", "nonmonotonic"]) if name in ("dynamic", "guided", "runtime") else ""
    if ordered and modifier == "nonmonotonic":
        modifier = ""
    monotonic = "1" if modifier == "monotonic" or name == "static" or ordered else "0"
    if name == "runtime" and monotonic == "0" and not modifier:
        monotonic = "runtime_is_monotonic()"
    text = f"{modifier + ':' if modifier else ''}{name}{f', {chunk}' if chunk else ''}"
    return Schedule(f" schedule({text})", name, chunk, monotonic)


def random_threads(rng: random.Random, most: int = 6) -> int:
    """The size of a team: small ones more often."""
    return min(most, rng.choice([1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8]))

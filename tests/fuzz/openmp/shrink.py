# SPDX-License-Identifier: BSD-3-Clause
"""Makes a failing program small: drops constructs, rounds, variables and options while it still fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from .program import Program

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, suspect: int | None, seconds: float) -> Program:
    """The smallest program found in `seconds` for which `fails` holds. `program` itself fails.

    @param suspect the construct in which the failure was seen; it is tried alone first
    """
    ends = time.monotonic() + seconds

    def holds(candidate: Program) -> bool:
        return time.monotonic() < ends and bool(candidate.constructs) and fails(candidate)

    best = program
    if suspect is not None:
        before = [n for n in program.numbers if n <= suspect]
        for tried in ({suspect}, set(before[-2:]), set(before[-5:]), set(before)):
            if tried and len(tried) < len(best.constructs) and holds(candidate := best.only(tried)):
                best = candidate
                break
    best = _drop(best, holds)
    if best.rounds > 1 and holds(candidate := replace(best, rounds=1)):
        best = candidate
    return best


def _drop(program: Program, holds: Fails) -> Program:
    """Halves, quarters, ... of the constructs go while the rest fails."""
    size = len(program.constructs) // 2
    while size >= 1 and len(program.constructs) > 1:
        numbers = program.numbers
        for start in range(0, len(numbers), size):
            rest = program.only(set(numbers) - set(numbers[start : start + size]))
            if rest.constructs and holds(rest):
                program = rest
                break
        else:
            size //= 2
            continue
        size = min(size, max(1, len(program.constructs) // 2))
    return program

# SPDX-License-Identifier: BSD-3-Clause
"""What is possible on an emulated node, computed exactly: the best thread counts for known loads, and the paper's own
rule."""

from fractions import Fraction
from math import ceil
from typing import Sequence

ITERATION_MS = Fraction(1, 20)  # of examples/unbalanced


def unbalanced_loads(ranks: int, imbalance: float) -> list[float]:
    """As examples/unbalanced --imbalance: loads relative to their mean, the first rank the heaviest."""
    heaviest = 1 + imbalance / 100 if ranks > 1 else 1
    return [heaviest] + [(ranks - heaviest) / (ranks - 1)] * (ranks - 1)


def iterations(loads: Sequence[float], work_ms: float, regions: int = 1) -> list[int]:
    """Iterations of each rank in a region, rounded as the program rounds them."""
    return [int(load * work_ms / float(ITERATION_MS) / regions + 0.5) for load in loads]


def makespan(work: Sequence[int], threads: Sequence[int]) -> Fraction:
    """Of a step, in iterations: the slowest rank decides."""
    return max(Fraction(load, n) for load, n in zip(work, threads))


def pack(sizes: Sequence[int], capacities: Sequence[int]) -> list[int] | None:
    """A domain for each of `sizes` so that no capacity is exceeded; None if there is no such way. Exact: all reachable
    sums."""
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    reachable: dict[tuple[int, ...], list[int]] = {(0,) * len(capacities): []}
    for i in order:
        following: dict[tuple[int, ...], list[int]] = {}
        for used, places in reachable.items():
            for domain, capacity in enumerate(capacities):
                if used[domain] + sizes[i] <= capacity:
                    key = used[:domain] + (used[domain] + sizes[i],) + used[domain + 1 :]
                    following.setdefault(key, places + [domain])
        reachable = following
    if not reachable:
        return None
    by_rank = dict(zip(order, next(iter(reachable.values()))))
    return [by_rank[i] for i in range(len(sizes))]


def optimal_threads(work: Sequence[int], capacities: Sequence[int]) -> list[int]:
    """The thread counts with the smallest makespan, each rank inside one domain. Search over all makespans that can
    occur."""
    candidates = sorted({Fraction(load, n) for load in work if load for n in range(1, max(capacities) + 1)})
    best = None
    low, high = 0, len(candidates) - 1
    while low <= high:
        middle = (low + high) // 2
        needed = [max(1, ceil(load / candidates[middle])) for load in work]
        if pack(needed, capacities) is None:
            low = middle + 1
        else:
            best = needed
            high = middle - 1
    if best is None:
        raise ValueError(f"{len(work)} ranks do not fit into domains of {list(capacities)} cores")
    return best


def shares(work: Sequence[int], cores: int) -> list[int]:
    """Cores in proportion to the load, at least one each, brought to the sum by largest remainder."""
    exact = [Fraction(load * cores, sum(work)) for load in work]
    counts = [max(1, int(share)) for share in exact]
    for rank in sorted(range(len(work)), key=lambda i: counts[i] - exact[i])[: max(0, cores - sum(counts))]:
        counts[rank] += 1
    while sum(counts) > cores:
        counts[max((i for i in range(len(work)) if counts[i] > 1), key=lambda i: counts[i] - exact[i])] -= 1
    return counts


def paper_threads(work: Sequence[int], capacities: Sequence[int]) -> list[int]:
    """The paper's rule: shares, then one process per socket to begin with, then a depth-first search, heaviest process
    first, for the mapping with the fewest missing cores; a process gets what is free where it lands."""
    wanted = shares(work, sum(capacities))
    order = sorted(range(len(work)), key=lambda i: -work[i])
    best: tuple[int, list[int]] = (sum(wanted) + 1, [])

    def explore(depth: int, free: list[int], missing: int, given: list[int]) -> None:
        nonlocal best
        if missing >= best[0]:
            return
        if depth == len(order):
            best = (missing, given)
            return
        want = wanted[order[depth]]
        for domain in [depth] if depth < len(free) else range(len(free)):
            if free[domain] > 0:
                gets = min(want, free[domain])
                left = free[:domain] + [free[domain] - gets] + free[domain + 1 :]
                explore(depth + 1, left, missing + want - gets, given + [gets])

    explore(0, list(capacities), 0, [])
    if not best[1]:
        raise ValueError(f"no mapping of {len(work)} ranks to domains of {list(capacities)} cores")
    by_rank = dict(zip(order, best[1]))
    return [by_rank[i] for i in range(len(work))]


def reduction(work: Sequence[int], before: Sequence[int], after: Sequence[int]) -> float:
    """Time saved, in per cent."""
    return float(100 * (1 - makespan(work, after) / makespan(work, before)))

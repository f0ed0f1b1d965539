# SPDX-License-Identifier: BSD-3-Clause
"""Trees of broadcasts between nodes: who stood where, who came late, and whom that held up. Told in the same words as
by the terminal (src/observe/late_in_trees.cpp)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Sequence

from .record import Run
from .words import duration, number, numbered, plural

TOLD = 4  # trees


def parent(position: int) -> int:
    """A binomial tree: who stands at a position gets the data from the one without its lowest bit."""
    return position & (position - 1)


def behind(position: int, size: int) -> int:
    """Positions that get the data through this one."""
    return min(position & -position if position else size, size - position) - 1


@dataclass(frozen=True)
class Tree:
    """Ranks by position, the root first, at its beginning and at its end. `late`: s that those came after the data on
    average, worst first."""

    first: Sequence[int]
    last: Sequence[int]
    late: Mapping[int, float]
    led: Mapping[int, int]
    """Late ranks that led their node at first, and who leads it at last."""

    @property
    def changed(self) -> bool:
        return [*self.first] != [*self.last]

    @property
    def held_first(self) -> int:
        return held_up(self.first, self.late)

    @property
    def held_last(self) -> int:
        return held_up(self.last, self.late)


def held_up(order: Sequence[int], late: Mapping[int, float]) -> int:
    """Ranks that get the data through one that comes more than twice as late as they do."""
    worst = [0.0] * len(order)  # of those on the way to a position; who is root is late to nobody
    found = 0
    for position in range(1, len(order)):
        above = parent(position)
        worst[position] = max(worst[above], late.get(order[above], 0.0) if above else 0.0)
        found += worst[position] > 2 * late.get(order[position], 0.0)
    return found


def often_late(run: Run) -> dict[int, float]:
    """Ranks that came late to at least every fourth of the broadcasts that Steelyard had taken over: by how much, on
    average over those to which they did; worst first."""
    frame = run.collectives
    frame = frame[(frame["late"] > 0) & (4 * frame["late"] >= frame["shared"] + frame["tree"])]
    lateness = (frame["behind"] / frame["late"]).sort_values(ascending=False, kind="stable")
    return {int(str(rank)): float(by) for rank, by in lateness.items()}


def trees(run: Run) -> list[Tree]:
    """Those with late ranks come first, and of these those that held up most at first."""
    late = often_late(run)
    node = {rank["rank"]: rank["node"] for rank in run.record["ranks"]}
    found = [_tree(tree["first"], tree["last"], late, node) for tree in run.record.get("trees", [])]
    return sorted(found, key=lambda tree: (not tree.late, -tree.held_first))


def _tree(first: list[int], last: list[int], late: Mapping[int, float], node: Mapping[int, int]) -> Tree:
    def of(rank: int) -> int:
        return node.get(rank, -1 - rank)

    leader = {of(rank): rank for rank in last}
    if last and first:
        # Whoever is root stands at 0, and the one whose place that is in the root's: both with the root of the last
        # plan.
        root = next((place for place, rank in enumerate(first) if of(rank) == of(last[0])), 0)
        first = [*first]
        first[0], first[root] = first[root], first[0]
    members = {*first, *last} - {*first[:1], *last[:1]}
    late = {rank: late[rank] for rank in sorted(members & late.keys(), key=lambda rank: (-late[rank], rank))}
    led = {rank: leader[of(rank)] for rank in first if rank in late and leader.get(of(rank), rank) != rank}
    return Tree(first, last, late, led)


def told(found: Sequence[Tree]) -> list[str]:
    """A sentence each for the first of those in which somebody is late or moved; then how many others there are."""
    shown = of_interest(found)
    sentences = [_sentence(tree) for tree in shown[:TOLD]]
    if len(shown) > TOLD:
        sentences.append(f"{plural(len(shown) - TOLD, 'more tree')} with late ranks or another order")
    if others := len(found) - len(shown):
        sentences.append(f"{plural(others, 'tree')} in which nobody came late to every fourth broadcast, and nobody "
                         "moved")
    return sentences


def of_interest(found: Sequence[Tree]) -> list[Tree]:
    return [tree for tree in found if tree.late or tree.changed]


def _sentence(tree: Tree) -> str:
    size = f"tree of {plural(len(tree.first), 'node')}"
    if not tree.late:
        return f"{size}: its order changed, but nobody came late to every fourth broadcast"
    worst, by = next(iter(tree.late.items()))
    who = (
        f"{numbered('rank', sorted(tree.late))} came late, {'by' if len(tree.late) == 1 else f'rank {worst} most,'}"
        f" {duration(by)}"
    )
    whom = "it" if len(tree.late) == 1 else "them"
    text = (
        f"{size}: {who}; {number(tree.held_first) if tree.held_first else 'none'} far earlier got the data through "
        f"{whom} at first, {number(tree.held_last) if tree.held_last else 'none'} at last"
    )
    if not tree.led:
        return text
    old, new = sorted(tree.led), sorted(tree.led.values())
    return (
        f"{text}; {numbered('rank', new)} {'leads' if len(new) == 1 else 'lead'} in the place of"
        f" {numbered('rank', old)}"
    )


def answer(tree: Tree) -> Optional[str]:
    """To: did the late ranks become leaves? None where nobody was late."""
    before, after = tree.held_first, tree.held_last
    if not tree.late:
        return None
    if after == 0:
        return "Yes" if before else "They stood in nobody's way from the beginning"
    return "In part" if after < before else "No"

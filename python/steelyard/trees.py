# SPDX-License-Identifier: BSD-3-Clause
"""Broadcast trees between nodes: positions of ranks, late ranks, and the ranks that they delayed. The sentences are
those of the terminal (src/observe/late_in_trees.cpp)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Sequence

from .record import Run
from .words import duration, number, numbered, percent, plural


def parent(position: int) -> int:
    """In a binomial tree, a position receives the data from the position without its lowest set bit."""
    return position & (position - 1)


def behind(position: int, size: int) -> int:
    """Number of positions that receive the data through this position."""
    return min(position & -position if position else size, size - position) - 1


@dataclass(frozen=True)
class Tree:
    """Ranks by position, the root first, at the start and at the end of the run. `late`: mean lateness of the late
    ranks, in s, largest first."""

    first: Sequence[int]
    last: Sequence[int]
    late: Mapping[int, float]
    led: Mapping[int, int]
    """Late ranks that led their node at first, and the rank that leads it at last."""
    ratio: float
    """A rank that is more than so many times as late as another delays it."""

    @property
    def changed(self) -> bool:
        return [*self.first] != [*self.last]

    @property
    def held_first(self) -> int:
        return held_up(self.first, self.late, self.ratio)

    @property
    def held_last(self) -> int:
        return held_up(self.last, self.late, self.ratio)


def held_up(order: Sequence[int], late: Mapping[int, float], ratio: float) -> int:
    """Number of ranks that receive the data through a rank that is more than `ratio` times as late as they are."""
    worst = [0.0] * len(order)  # largest lateness on the path to a position; no rank waits for the root's arrival
    found = 0
    for position in range(1, len(order)):
        above = parent(position)
        worst[position] = max(worst[above], late.get(order[above], 0.0) if above else 0.0)
        found += worst[position] > ratio * late.get(order[position], 0.0)
    return found


def often_late(run: Run) -> dict[int, float]:
    """Ranks that were late to at least a share (`late_share` of the thresholds) of the broadcasts that Steelyard took
    over, with their mean lateness in these; largest first."""
    frame, share = run.collectives, run.thresholds["late_share"]
    frame = frame[(frame["late"] > 0) & (frame["late"] >= share * (frame["shared"] + frame["tree"]))]
    lateness = (frame["behind"] / frame["late"]).sort_values(ascending=False, kind="stable")
    return {int(str(rank)): float(by) for rank, by in lateness.items()}


def trees(run: Run) -> list[Tree]:
    """Trees with late ranks come first, ordered by the number of ranks delayed at first."""
    late = often_late(run)
    node = {rank["rank"]: rank["node"] for rank in run.record["ranks"]}
    ratio = run.thresholds["late_ratio"]
    found = [_tree(tree["first"], tree["last"], late, node, ratio) for tree in run.record.get("trees", [])]
    return sorted(found, key=lambda tree: (not tree.late, -tree.held_first))


def _tree(
    first: list[int], last: list[int], late: Mapping[int, float], node: Mapping[int, int], ratio: float
) -> Tree:
    def of(rank: int) -> int:
        return node.get(rank, -1 - rank)

    leader = {of(rank): rank for rank in last}
    if last and first:
        # The root takes position 0, and the rank of position 0 takes the root's. Both orders use the root of the last
        # plan.
        root = next((place for place, rank in enumerate(first) if of(rank) == of(last[0])), 0)
        first = [*first]
        first[0], first[root] = first[root], first[0]
    members = {*first, *last} - {*first[:1], *last[:1]}
    late = {rank: late[rank] for rank in sorted(members & late.keys(), key=lambda rank: (-late[rank], rank))}
    led = {rank: leader[of(rank)] for rank in first if rank in late and leader.get(of(rank), rank) != rank}
    return Tree(first, last, late, led, ratio)


def told(found: Sequence[Tree], limits: Mapping[str, float]) -> list[str]:
    """A sentence for each of the first trees with late or moved ranks; then the number of the other trees."""
    shown, most, share = of_interest(found), int(limits["described_trees"]), percent(limits["late_share"])
    sentences = [_sentence(tree, share) for tree in shown[:most]]
    if len(shown) > most:
        sentences.append(f"{plural(len(shown) - most, 'more tree')} with late ranks or another order")
    if others := len(found) - len(shown):
        sentences.append(
            f"{plural(others, 'tree')}: no rank was late to {share} of its broadcasts, and no rank moved"
        )
    return sentences


def of_interest(found: Sequence[Tree]) -> list[Tree]:
    return [tree for tree in found if tree.late or tree.changed]


def _sentence(tree: Tree, share: str) -> str:
    size = f"tree of {plural(len(tree.first), 'node')}"
    if not tree.late:
        return f"{size}: its order changed, but no rank was late to {share} of its broadcasts"
    worst, by = next(iter(tree.late.items()))
    were, they, most = ("was", "it", "") if len(tree.late) == 1 else ("were", "they", f", rank {worst} most,")
    first = plural(tree.held_first, "rank") if tree.held_first else "no rank"
    last = number(tree.held_last) if tree.held_last else "none"
    late = f"{numbered('rank', sorted(tree.late))} {were} late{most} by {duration(by)}"
    text = f"{size}: {late}; {they} delayed {first} at first, {last} at last"
    if not tree.led:
        return text
    old, new = sorted(tree.led), sorted(tree.led.values())
    return (
        f"{text}; {numbered('rank', new)} {'leads its node' if len(new) == 1 else 'lead their nodes'} instead of"
        f" {numbered('rank', old)}"
    )


def answer(tree: Tree) -> Optional[str]:
    """Answers: did the late ranks become leaves? None if no rank was late."""
    before, after = tree.held_first, tree.held_last
    if not tree.late:
        return None
    if after == 0:
        return "Yes" if before else "They delayed no rank from the start"
    return "In part" if after < before else "No"

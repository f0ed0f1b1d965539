# SPDX-License-Identifier: BSD-3-Clause
"""A binomial tree as SVG that takes its colours from the page. Of a large tree, only the ranks that matter are drawn,
each with the number of hidden ranks below it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import Collection, Iterator, Mapping, Optional, Sequence

from .trees import Tree, behind, parent
from .words import duration, number, plural

WIDTH, PILL = 900, 20
ROW, TALL = 46, 64  # of a whole tree, and of one in which words stand between the rows
GAP, WIDE, DIGIT = 5.5, 50, 7.2
MOST = 6  # late ranks in the picture of a large tree
SHADES, NEARLY = 3, 0.1


@dataclass
class Node:
    """What is drawn. `skipped`: ranks between it and the one drawn above it; `hidden`: ranks below it that are not
    drawn."""

    position: int
    rank: int
    above: Optional[Node] = None
    below: list[Node] = field(default_factory=list)
    skipped: int = 0
    hidden: int = 0
    x: float = 0.0  # of its middle
    y: int = 0  # of its top

    def path(self) -> Iterator[Node]:
        node: Optional[Node] = self
        while node is not None:
            yield node
            node = node.above


def charts(tree: Tree, most: float) -> tuple[str, str]:
    """Two charts, at first and at last, with the same ranks in both. `most`: s, the lateness with the strongest
    colour."""
    shown = None if _fits(tree.first) and _fits(tree.last) else _of_interest(tree)
    return _chart(tree, tree.first, tree.last, shown, most), _chart(tree, tree.last, tree.first, shown, most)


def is_whole(tree: Tree) -> bool:
    return _fits(tree.first) and _fits(tree.last)


def shade(by: Optional[float], most: float) -> int:
    """0: in time, where `by` is None, or nearly, beside the latest; 1 to SHADES: in equal steps up to `most`."""
    if by is None or by < NEARLY * most:
        return 0
    return max(1, math.ceil(SHADES * by / most - 1e-9)) if most > 0 else 1


def shades(lateness: Collection[float]) -> list[tuple[str, str]]:
    """The legend: of those that occur."""
    most = max(lateness, default=0.0)
    words = {0: "in time", **{n: f"up to {duration(most * n / SHADES)} late" for n in range(1, SHADES + 1)}}
    if any(shade(by, most) == 0 for by in lateness):
        words[0] += f", or less than {duration(NEARLY * most)} late"
    return [(f"late{n}", words[n]) for n in sorted({0, *(shade(by, most) for by in lateness)})]


def _fits(order: Sequence[int]) -> bool:
    return (len(order) + 1) // 2 * _slot(order) <= WIDTH


def _slot(ranks: Collection[int]) -> float:
    return _pill(max(ranks, default=0)) + GAP


def _pill(rank: int) -> float:
    return max(PILL, 8 + DIGIT * len(str(rank)))


def _of_interest(tree: Tree) -> set[int]:
    """The late ranks with most ranks below them, the ranks that lead their nodes instead, and those now at their
    positions."""
    where, now = ({rank: position for position, rank in enumerate(order)} for order in (tree.first, tree.last))

    def held_up(rank: int) -> int:
        return max(behind(places[rank], len(places)) if rank in places else 0 for places in (where, now))

    late = sorted(tree.late, key=held_up, reverse=True)[:MOST]
    instead = {tree.last[where[rank]] for rank in late if rank in where and where[rank] < len(tree.last)}
    return {*late, *(tree.led[rank] for rank in late if rank in tree.led), *instead}


def _chart(tree: Tree, order: Sequence[int], other: Sequence[int], shown: Optional[set[int]], most: float) -> str:
    nodes = _nodes(order, shown)
    if not nodes:
        return ""
    slot, row = max(_slot([node.rank for node in nodes]), WIDE if shown else 0), TALL if shown else ROW
    width = _place(nodes[0], slot / 2, slot, row) - slot / 2
    height = max(node.y for node in nodes) + PILL + (14 if shown else 2)
    elsewhere = {rank: position for position, rank in enumerate(other)}
    out = [
        f'<svg class="tree" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img" '
        f'aria-label="tree of {plural(len(order), "node")}">'
    ]
    out += [_edge(node) for node in nodes] + [_via(node) for node in nodes]  # text is drawn on top of lines
    for node in nodes:
        receivers = behind(node.position, len(order))
        before = behind(elsewhere[node.rank], len(other)) if node.rank in elsewhere else None
        out.append(_pill_of(node, tree.late.get(node.rank), most, receivers, before))
    return "".join([*out, "</svg>"])


def _nodes(order: Sequence[int], shown: Optional[set[int]]) -> list[Node]:
    """The root first; parents before their children, and the largest subtree first."""
    drawn: dict[int, Node] = {}
    hidden: dict[int, int] = {}  # by position: of those drawn above
    for position, rank in enumerate(order):
        if position and shown is not None and rank not in shown:
            above, _ = _drawn_above(position, drawn)
            hidden[above] = hidden.get(above, 0) + 1
            continue
        node = drawn[position] = Node(position, rank)
        if position:
            above, node.skipped = _drawn_above(position, drawn)
            node.above = drawn[above]
    for node in drawn.values():
        node.hidden = hidden.get(node.position, 0)
    for node in reversed(drawn.values()):  # the child that is sent to first stands leftmost
        if node.above is not None:
            node.above.below.append(node)
    return list(drawn.values())


def _drawn_above(position: int, drawn: Mapping[int, Node]) -> tuple[int, int]:
    above, skipped = parent(position), 0
    while above not in drawn:
        above, skipped = parent(above), skipped + 1
    return above, skipped


def _place(node: Node, left: float, slot: float, row: int) -> float:
    """Leaves side by side, others in the middle above theirs. Where the next leaf would stand."""
    node.y = node.above.y + row if node.above is not None else 0
    if not node.below:
        node.x = left
        return left + slot
    for child in node.below:
        left = _place(child, left, slot, row)
    node.x = (node.below[0].x + node.below[-1].x) / 2
    return left


def _edge(node: Node) -> str:
    if node.above is None:
        return ""
    top = node.above.y + PILL - 1 + (14 if node.above.hidden else 0)
    style = "edge between" if node.skipped else "edge"
    return f'<path class="{style}" data-to="{node.rank}" d="M{node.above.x:.1f} {top}L{node.x:.1f} {node.y + 1}"/>'


def _via(node: Node) -> str:
    return (
        f'<text x="{node.x:.1f}" y="{node.y - 4}" class="small middle halo">via {node.skipped}</text>'
        if node.skipped
        else ""
    )


def _pill_of(node: Node, late: Optional[float], most: float, receivers: int, before: Optional[int]) -> str:
    """`late`: s, None in time. `before`: how many get the data through it in the other picture, None where it is not
    there."""
    width, colour = _pill(node.rank), shade(late, most)
    words = f"rank {node.rank}: {'in time' if late is None else duration(late) + ' late'}; "
    words += f"{plural(receivers, 'rank')} {'receives' if receivers == 1 else 'receive'} the data through it, "
    words += "and it is not in the other picture" if before is None else f"{number(before)} in the other picture"
    path = " ".join(str(above.rank) for above in node.path())
    moved = " moved" if before != receivers else ""
    out = (
        f'<g class="node" data-rank="{node.rank}" data-path="{path}"><title>{escape(words)}</title>'
        f'<rect class="late{colour}{moved}" x="{node.x - width / 2:.1f}" y="{node.y + 1}" width="{width:.1f}" '
        f'height="{PILL - 2}" rx="9"/><text class="on{colour}" x="{node.x:.1f}" y="{node.y + 14}">{node.rank}</text>'
    )
    if node.hidden:
        out += (
            f'<text x="{node.x:.1f}" y="{node.y + PILL + 11}" class="small middle halo">+{number(node.hidden)}</text>'
        )
    return out + "</g>"

# SPDX-License-Identifier: BSD-3-Clause
"""Small charts as SVG that takes its colours from the page: horizontal bars, stacked or with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Callable, Optional, Sequence

from .words import ticks

WIDTH, ROW, LABEL, RIGHT = 900, 24, 180, 140


@dataclass(frozen=True)
class Bar:
    """A row: its name, parts as (kind, value), the text after the bar, and the tooltip."""

    name: str
    parts: Sequence[tuple[str, float]]
    after: str = ""
    tip: str = ""
    interval: Optional[tuple[float, float]] = None
    """Bounds of the confidence interval, drawn around the end of the bar."""
    depth: Optional[int] = None
    """In a tree: levels by which the name is indented."""


def bars(rows: Sequence[Bar], unit: Callable[[float], str], end: Optional[float] = None) -> str:
    """Rows from above, each as long as the sum of its parts. `unit` writes the numbers of the axis; `end` is its
    last one."""
    longest = max((max([sum(value for _, value in row.parts), *(row.interval or ())]) for row in rows), default=0.0)
    end = end or longest or 1.0
    scale = (WIDTH - LABEL - RIGHT) / end
    height = len(rows) * ROW + 26
    out = [f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">']
    for tick in ticks(end, 6):
        x = LABEL + tick * scale
        out.append(f'<path class="grid" d="M{x:.1f} 0V{height - 22}"/>')
        out.append(_text(x, height - 6, unit(tick), "small middle"))
    for index, row in enumerate(rows):
        out += _row(row, index * ROW, scale)
    return "".join([*out, "</svg>"])


def _row(row: Bar, y: float, scale: float) -> list[str]:
    out = ["<g>" + (f"<title>{escape(row.tip)}</title>" if row.tip else "")]
    if row.depth is None:
        out.append(_text(LABEL - 8, y + 16, row.name, "end"))
    else:
        out.append(_text(12 * row.depth, y + 16, row.name, ""))
    x = float(LABEL)
    for kind, value in row.parts:
        width = value * scale
        if width > 0:
            out.append(f'<rect class="{kind}" x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{ROW - 7}"/>')
        x += width
    if row.interval is not None:
        middle = y + ROW / 2 - 0.5
        low, high = (max(LABEL, LABEL + bound * scale) for bound in row.interval)
        out.append(
            f'<path class="band" fill="none" d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} '
            f'{middle - 4}v8"/>'
        )
        x = high
    out.append(_text(x + 8, y + 16, row.after, "small"))
    return [*out, "</g>"]


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{escape(words)}</text>' if words else ""

# SPDX-License-Identifier: BSD-3-Clause
"""Small charts as SVG that takes its colours from the page: horizontal bars, stacked or with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Callable, Optional, Sequence

from .words import ticks

ROW, LABEL = 24, 180
"""Heights and widths in pixels. LABEL: what report.css leaves for the names, on a wide page."""


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
    last one. Lengths are in percent, so that the bars fit the page; names stand to the left of the picture, and texts
    may stand to its right."""
    longest = max((max([sum(value for _, value in row.parts), *(row.interval or ())]) for row in rows), default=0.0)
    scale = 100 / (end or longest or 1.0)
    height = len(rows) * ROW + 26
    style = "bars indented" if any(row.depth is not None for row in rows) else "bars"
    if any(row.interval is not None for row in rows):
        style += " bounded"
    out = [f'<svg class="{style}" height="{height}" role="img">']
    for index, tick in enumerate(ticks(100 / scale, 6)):
        x = tick * scale
        out.append(_line("grid", (x, x), (0, height - 22)))
        out.append(_text(f"{x:.2f}%", height - 6, unit(tick), "small middle odd" if index % 2 else "small middle"))
    for index, row in enumerate(rows):
        out += _row(row, index * ROW, scale)
    return "".join([*out, "</svg>"])


def _row(row: Bar, y: float, scale: float) -> list[str]:
    out = ["<g>" + (f"<title>{escape(row.tip)}</title>" if row.tip else "")]
    if row.depth is None:
        out.append(_text("-8", y + 16, row.name, "end"))
    else:
        out.append(_text(f"{12 * row.depth - LABEL}", y + 16, row.name, "name"))
    x = 0.0
    for kind, value in row.parts:
        width = value * scale
        if width > 0:
            out.append(f'<rect class="{kind}" x="{x:.2f}%" y="{y + 3}" width="{width:.2f}%" height="{ROW - 7}"/>')
        x += width
    if row.interval is not None:
        middle = y + ROW / 2 - 0.5
        low, high = (max(0.0, bound * scale) for bound in row.interval)
        out.append(_line("band", (low, high), (middle, middle)))
        out += [_line("band", (bound, bound), (middle - 4, middle + 4)) for bound in (low, high)]
        x = high
    out.append(_text(f"{x:.2f}%", y + 16, row.after, "small", 'dx="8" '))
    return [*out, "</g>"]


def _line(style: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    return f'<line class="{style}" x1="{x[0]:.2f}%" x2="{x[1]:.2f}%" y1="{y[0]}" y2="{y[1]}"/>'


def _text(x: str, y: float, words: str, style: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y:.1f}" {more}class="{style}">{escape(words)}</text>' if words else ""

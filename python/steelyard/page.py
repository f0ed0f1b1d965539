# SPDX-License-Identifier: BSD-3-Clause
"""One self-contained page about a run: `html(run)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import jinja2

from .canvas import canvas
from .record import Progress, Run
from .section import LINES, Section
from .sections import sections
from .summary import instrument, summary
from .words import duration, plural

ASSETS = Path(__file__).with_name("assets")


def html(run: Run, progress: Optional[Progress] = None) -> str:
    """The page as text. `progress(done, of)` is told after each rank of the timeline."""
    found, shown = summary(run), sections(run)
    answers = [("Waiting", found.waiting), ("Moved", found.moved), ("Did it help?", found.helped)]
    answers += [("Note", note) for note in found.notes]
    command = " ".join(run.record["command"])
    timeline = canvas(run, progress) if any(section.canvas for section in shown) else None
    head = {"samples": timeline.head, "moves": _moves(run), "lines": LINES} if timeline else None
    return render(
        title=f"Steelyard: {command}",
        run=f"{command} · {_size(run)} · {run.record['started'].replace('T', ' ').replace('Z', ' UTC')}",
        headline=found.headline,
        instrument=instrument(run) or "Measured on real cores.",
        answers=answers,
        sections=shown,
        timeline={"head": head, "blocks": timeline.blocks} if timeline else None,
    )


def render(sections: list[Section], timeline: Optional[dict[str, Any]], **values: Any) -> str:
    """Fills the template; scripts and styles go into the page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_unbroken,
    )
    scripts = ["timeline.js", "page.js"] if timeline else ["page.js"]
    script = "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in scripts)
    css = (ASSETS / "report.css").read_text(encoding="utf-8")
    return environment.get_template("report.html.j2").render(
        sections=sections, timeline=timeline, css=css, script=script, **values
    )


def _unbroken(value: Any) -> Any:
    """Prevents line breaks between a value and its unit or its confidence interval."""
    if type(value) is not str:
        return value
    return value.replace(" %", "\u00a0%")


def _size(run: Run) -> str:
    nodes, cores = len(run.nodes), int(run.nodes["cores"].sum())
    where = f" on {plural(nodes, 'node')}, {plural(cores, 'core')}" if nodes else ""
    return f"{plural(len(run.ranks), 'rank')}{where}, {duration(run.record['wall'])}"


def _moves(run: Run) -> list[dict[str, float]]:
    """Times of the moves of cores, with the rows of the ranks of that node."""
    rows: dict[int, list[int]] = {}
    for row, rank in enumerate(run.record["ranks"]):
        rows.setdefault(rank["node"], []).append(row)
    taken = run.moves
    return [
        {"time": float(move["time"]), "first": min(rows[move["node"]]), "last": max(rows[move["node"]])}
        for _, move in taken.iterrows()
        if move["node"] in rows
    ]

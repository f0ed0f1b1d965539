# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of two runs as a page."""

from __future__ import annotations

from typing import Optional, Sequence

from .charts import Bar, bars
from .compare import Comparison, Difference, Value, compare
from .page import render
from .record import Progress, Run
from .section import Section
from .table import Cell, Column, Table, text
from .summary import instrument
from .words import duration, percent, plural

ROWS = 12


def html(a: Run, b: Run, names: tuple[str, str], progress: Optional[Progress] = None) -> str:
    found = compare(a, b, progress)
    answers = [("First", _run(a, names[0])), ("Second", _run(b, names[1]))]
    answers += [("Note", warning[:1].upper() + warning[1:] + ".") for warning in found.warnings]
    command = " ".join(b.record["command"])
    return render(
        title=f"Steelyard: two runs of {command}",
        run=f"{command} · two runs",
        headline=found.headline,
        instrument=instrument(b) or instrument(a) or "Measured on real cores.",
        answers=answers,
        sections=_sections(found),
        timeline=None,
    )


def _run(run: Run, name: str) -> str:
    return (
        f"{name}, started {run.record['started'].replace('T', ' ').replace('Z', ' UTC')},"
        f" {duration(run.record['wall'])}."
    )


def _sections(found: Comparison) -> list[Section]:
    made = [
        Section(
            "differences",
            "Which differences are statistically significant?",
            [f"{'After the last move of each run' if found.moved else 'Over the whole run, as no core moved'}:"]
            if found.settled
            else [],
            table=_table(found.settled) if found.settled else None,
            caption=(
                f"In brackets: the bounds of the {100 * found.confidence:g} % confidence interval, from the variation"
                " within each run."
                " Variation between runs can be larger: repeat important comparisons."
            ),
        )
    ]
    phase = [difference for difference in found.settled if difference.relative]
    if phase:
        made.append(Section("phases", "Did the step time change?", svg=bars(_bars(phase), duration)))
    shares = [difference for difference in found.settled if not difference.relative]
    if shares:
        made.append(Section("shares", "Where does the core time go?", svg=bars(_bars(shares), percent)))
    if found.ranks:
        made.append(
            Section(
                "ranks",
                "Which ranks wait longer or shorter in MPI?",
                svg=bars(_bars(found.ranks[:ROWS]), percent),
                caption=_shown(found),
            )
        )
    made.append(
        Section(
            "whole",
            "How do the whole runs differ?",
            table=_table(found.whole),
            caption="These include the time before the moves. One run each gives no confidence interval for them.",
        )
    )
    return made


def _bars(differences: Sequence[Difference]) -> list[Bar]:
    rows = []
    for difference in differences:
        kind = {"waiting in OpenMP": "omp", "waiting in MPI": "mpi"}.get(difference.name, "useful")
        kind = "mpi" if difference.name.startswith("rank ") else kind
        _, a, b, change, result = difference.row()
        rows.append(Bar(f"{difference.name}: 1st", [(kind, difference.a.mean)], a, interval=_bounds(difference.a)))
        rows.append(Bar("2nd", [(kind, difference.b.mean)], b, f"{change}, {result}", _bounds(difference.b)))
    return rows


def _bounds(value: Value) -> Optional[tuple[float, float]]:
    return None if value.noise is None else (value.mean - value.noise, value.mean + value.noise)


def _table(differences: Sequence[Difference]) -> Table:
    table = Table(
        [Column("", "", False), Column("first"), Column("second"), Column("difference"), Column("", "", False)]
    )
    for difference in differences:
        name, a, b, change, result = difference.row()
        table.add(
            text(name),
            Cell(a, difference.a.mean),
            Cell(b, difference.b.mean),
            Cell(change, difference.change),
            text(result),
            kind="declined" if result == "not significant" else "",
        )
    return table


def _shown(found: Comparison) -> str:
    more = f"{ROWS} of {len(found.ranks)} such ranks are shown. " if len(found.ranks) > ROWS else ""
    if found.ranks_alike == 0:
        return more.rstrip()
    return (
        f"{more}{plural(found.ranks_alike, 'rank')} {'does' if found.ranks_alike == 1 else 'do'} not differ"
        " significantly."
    )

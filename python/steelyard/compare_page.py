# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of two runs as a page."""

from __future__ import annotations

from typing import Optional, Sequence

from .charts import Bar, bars
from .compare import Comparison, Difference, compare
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
        instrument=instrument(b) or instrument(a) or "Real: measured on the cores of the machine on which it ran.",
        verdict=answers,
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
            "What differs beyond noise, and what does not?",
            ["After the last move of each run:"] if found.settled else [],
            table=_table(found.settled) if found.settled else None,
            caption="Bands are those of the variation inside each run, at 95 %. From one run to the next it can be "
                    "more: repeat what matters.",
        )
    ]
    phase = [difference for difference in found.settled if difference.relative]
    if phase:
        made.append(Section("phases", "Is a phase shorter?", svg=bars(_bars(phase), duration)))
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
            "What about the whole runs?",
            table=_table(found.whole),
            caption="With what came before the moves. One run each has no band for these.",
        )
    )
    return made


def _bars(differences: Sequence[Difference]) -> list[Bar]:
    rows = []
    for difference in differences:
        kind = {"waiting in OpenMP": "omp", "waiting in MPI": "mpi"}.get(difference.name, "useful")
        kind = "mpi" if difference.name.startswith("rank ") else kind
        _, a, b, change, verdict = difference.row()
        rows.append(Bar(f"{difference.name}: 1st", [(kind, difference.a.mean)], a, noise=difference.a.noise))
        rows.append(Bar("2nd", [(kind, difference.b.mean)], b, f"{change}, {verdict}", difference.b.noise))
    return rows


def _table(differences: Sequence[Difference]) -> Table:
    table = Table(
        [Column("", "", False), Column("first"), Column("second"), Column("difference"), Column("", "", False)]
    )
    for difference in differences:
        name, a, b, change, verdict = difference.row()
        table.add(
            text(name),
            Cell(a, difference.a.mean),
            Cell(b, difference.b.mean),
            Cell(change, difference.change),
            text(verdict),
            kind="declined" if verdict == "within noise" else "",
        )
    return table


def _shown(found: Comparison) -> str:
    more = f"Shown are {ROWS} of {len(found.ranks)} that do. " if len(found.ranks) > ROWS else ""
    return (
        f"{more}{plural(found.ranks_alike, 'rank')} {'does' if found.ranks_alike == 1 else 'do'} not differ beyond"
        " noise."
    )

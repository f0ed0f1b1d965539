# SPDX-License-Identifier: BSD-3-Clause
"""A section of the page, and helpers that sections share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

import pandas as pd

from .record import Run
from .shares import asleep_capacity
from .table import Table
from .words import number

ROWS = 24  # of a chart
MOST = 256  # rows of a table, so that the page stays small
LINES = 200  # of moves in a picture; more would hide it

ACTIVITY = (("useful", "computing"), ("omp", "waiting in OpenMP"), ("mpi", "waiting in MPI"))
GPU = ("gpu_wait", "waiting for a GPU")
ASLEEP = ("quiesced", "asleep while other ranks work in a phase")
RARE = (("lent", "waiting, with its cores lent"), ASLEEP, GPU)


@dataclass(frozen=True)
class Pictures:
    """A sentence, and what shows it: a name and an SVG each, side by side where there is room."""

    text: str
    parts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Section:
    """A title that asks one question, and what answers it, in this order. `canvas`: one of those of
    assets/timeline.js."""

    name: str
    question: str
    text: Sequence[str] = ()
    legend: Sequence[tuple[str, str]] = ()
    svg: str = ""
    pictures: Sequence[Pictures] = ()
    canvas: str = ""
    height: int = 0
    caption: str = ""
    table: Optional[Table] = None
    items: Sequence[str] = ()


def core_shares(run: Run) -> pd.DataFrame:
    """Of each rank, the shares of its core time."""
    ranks, asleep = run.ranks, asleep_capacity(run)
    frame = pd.DataFrame(
        {
            "useful": ranks["useful"],
            "omp": ranks["omp_imbalance"] + ranks["omp_scheduling"] + ranks["omp_serialisation"],
            "mpi": ranks["mpi_capacity"] - asleep,
            "quiesced": asleep,
            "gpu_wait": ranks["gpu_capacity"],
        }
    )
    whole = frame.sum(axis=1)
    return frame.div(whole.where(whole > 0), axis=0).fillna(0.0)


def activities(run: Run) -> Sequence[tuple[str, str]]:
    """Those of core_shares() that this run has."""
    rare = ((ASLEEP, "quiesced"), (GPU, "gpu_capacity"))
    return (*ACTIVITY, *(activity for activity, member in rare if run.ranks[member].sum() > 0))


def timeline_legend(run: Run) -> Sequence[tuple[str, str]]:
    """The legend of the timeline; rare activities are listed only if the record has them."""
    packed = [rank["timeline"] for rank in run.record["ranks"] if isinstance(rank["timeline"], dict)]
    return (*ACTIVITY, *((kind, words) for kind, words in RARE if any(kind in timeline for timeline in packed)))


def has_samples(run: Run) -> bool:
    timelines = (rank["timeline"] for rank in run.record["ranks"])
    return any(timeline["samples"] if isinstance(timeline, dict) else timeline for timeline in timelines)


def first_of(rows: int, noun: str) -> str:
    return f"The first {MOST} of {number(rows)} {noun} are shown." if rows > MOST else ""

# SPDX-License-Identifier: BSD-3-Clause
"""What became of the core time of a run: its cores times its wall time. A core that a rank has lent counts once: as
computing while its borrower uses it, and as waiting in MPI otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from .record import Run


@dataclass(frozen=True)
class Shares:
    """Of the core time, as fractions. Their sum is 1."""

    useful: float
    omp: float
    mpi: float
    gpu: float = 0.0
    asleep: float = 0.0  # while other ranks work in a phase


def shares_of(metrics: Mapping[str, float]) -> Shares:
    """From the efficiencies of a run or a region: `useful` is the parallel efficiency."""
    outside_mpi = metrics["mpi"]
    computing = outside_mpi * metrics.get("gpu", 1.0)
    useful = computing * metrics["openmp"]
    return Shares(useful, computing - useful, 1 - outside_mpi, outside_mpi - computing)


def shares(run: Run) -> Shares:
    found = shares_of({str(name): float(value) for name, value in run.metrics.items()})
    in_mpi = float(run.ranks["mpi_capacity"].sum())
    asleep = found.mpi * float(asleep_capacity(run).sum()) / in_mpi if in_mpi > 0 else 0.0
    return replace(found, mpi=found.mpi - asleep, asleep=asleep)


def asleep_capacity(run: Run) -> pd.Series[Any]:
    """Of each rank, the part of mpi_capacity in which it slept while others worked in a phase."""
    ranks = run.ranks
    return ranks["mpi_capacity"] * (ranks["quiesced"] / ranks["mpi"].where(ranks["mpi"] > 0)).fillna(0.0)


def measures_threads(run: Run) -> bool:
    """False if no OpenMP region was seen, and ranks had several threads or another tool used OMPT."""
    alone = not run.record.get("openmp_tool") and (run.ranks["threads_at_start"] <= 1).all()
    return bool(run.ranks["regions"].sum() > 0 or alone)

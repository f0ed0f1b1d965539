# SPDX-License-Identifier: BSD-3-Clause
"""The run in the JSON of TALP (DLB 3.5), from which talp-pages makes its reports."""

from __future__ import annotations

import json
from typing import Any

from .record import Run

VERSION = "3.5.0"  # of the format


def talp(run: Run) -> dict[str, Any]:
    """The whole run as TALP's region Global. Counters of cycles and instructions are 0: Steelyard reads none."""
    ranks, metrics = run.ranks, run.record["metrics"]
    total = {
        name: int(sum(rank["totals_ns"].get(name, 0) for rank in run.record["ranks"]))
        for name in (
            "serial",
            "region_useful",
            "omp_imbalance",
            "omp_scheduling",
            "omp_serialisation",
            "mpi_capacity",
            "capacity",
            "regions",
            "mpi_calls",
            "omp_tasks",
            "gpu_capacity",
        )
    }
    cores, wall = int(ranks["threads_at_start"].sum()), round(run.record["wall"] * 1e9)
    region = {
        "numCpus": cores,
        "numNodes": len(run.nodes),
        "avgCpus": total["capacity"] / wall if wall else float(cores),
        "numGpus": 0,
        "cycles": 0,
        "instructions": 0,
        "numMeasurements": len(ranks),
        "numMpiCalls": total["mpi_calls"],
        "numOmpParallels": total["regions"],
        "numOmpTasks": total["omp_tasks"],
        "elapsedTime": wall,
        "usefulTime": total["serial"] + total["region_useful"],
        "mpiTime": total["mpi_capacity"],
        "ompLoadImbalanceTime": total["omp_imbalance"],
        "ompSchedulingTime": total["omp_scheduling"],
        "ompSerializationTime": total["omp_serialisation"],
        "parallelEfficiency": metrics["parallel"],
        "mpiParallelEfficiency": metrics["mpi"],
        "mpiCommunicationEfficiency": metrics["communication"],
        "mpiLoadBalance": metrics["load_balance"],
        "mpiLoadBalanceIn": metrics["load_balance_in"],
        "mpiLoadBalanceOut": metrics["load_balance_out"],
        "ompParallelEfficiency": metrics["openmp"],
        "ompLoadBalance": metrics["omp_load_balance"],
        "ompSchedulingEfficiency": metrics["omp_scheduling"],
        "ompSerializationEfficiency": metrics["omp_serialisation"],
    }
    if total["gpu_capacity"]:
        region |= {"gpuRuntimeTime": total["gpu_capacity"], "deviceOffloadEfficiency": metrics["gpu"]}
    return {
        "dlbVersion": f"{VERSION} (written by Steelyard {run.record['version']})",
        "timestamp": run.record["started"].replace("Z", ""),
        "resources": {"numCpus": cores, "numNodes": len(run.nodes), "numMpiRanks": len(ranks)},
        "Application": {"Global": region},
    }


def text(run: Run) -> str:
    return json.dumps(talp(run), indent=2) + "\n"

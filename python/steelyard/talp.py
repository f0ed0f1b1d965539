# SPDX-License-Identifier: BSD-3-Clause
"""The run in the JSON of TALP (DLB 3.5), from which talp-pages makes its reports."""

from __future__ import annotations

import json
from typing import Any

from .record import Run
from .shares import measures_threads, shares_of

VERSION = "3.5.0"  # of the format


SUMS = (
    "serial",
    "region_useful",
    "omp_imbalance",
    "omp_scheduling",
    "omp_serialisation",
    "regions",
    "mpi_calls",
    "omp_tasks",
    "gpu_capacity",
)


def talp(run: Run) -> dict[str, Any]:
    """The whole run as TALP's region Global, and each named region of the program. Counters of cycles and instructions
    are 0: Steelyard reads none."""
    record = run.record
    cores = int(run.ranks["threads_at_start"].sum())
    regions = {"Global": region(run, record["ranks"], record["metrics"], record["wall"])}
    for part in record.get("regions", []):
        name = part["name"] if part["name"] not in regions else f"{part['name']} (region)"
        regions[name] = region(run, part["ranks"], part["metrics"], part["wall"])
    return {
        "dlbVersion": f"{VERSION} (written by Steelyard {record['version']})",
        "timestamp": record["started"].replace("Z", ""),
        "resources": {"numCpus": cores, "numNodes": len(run.nodes), "numMpiRanks": len(run.ranks)},
        "Application": regions,
    }


def region(run: Run, ranks: list[dict[str, Any]], metrics: dict[str, float], seconds: float) -> dict[str, Any]:
    """What these ranks did in `seconds`."""
    total = {name: int(sum(rank["totals_ns"].get(name, 0) for rank in ranks)) for name in SUMS}
    of = run.ranks.loc[[rank["rank"] for rank in ranks]]
    cores, wall = int(of["threads_at_start"].sum()), round(seconds * 1e9)
    lost = ("omp_imbalance", "omp_scheduling", "omp_serialisation", "gpu_capacity")
    outside_mpi = total["serial"] + total["region_useful"] + sum(total[name] for name in lost)
    in_mpi = round(shares_of(metrics).mpi * cores * wall)
    written = {
        "numCpus": cores,
        "numNodes": int(of["node"].nunique()),
        "avgCpus": (outside_mpi + in_mpi) / wall if wall else float(cores),
        "numGpus": 0,
        "cycles": 0,
        "instructions": 0,
        "numMeasurements": sum(rank.get("count", 1) for rank in ranks),
        "numMpiCalls": total["mpi_calls"],
        "numOmpParallels": total["regions"],
        "numOmpTasks": total["omp_tasks"],
        "elapsedTime": wall,
        "usefulTime": total["serial"] + total["region_useful"],
        "mpiTime": in_mpi,
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
        written |= {"gpuRuntimeTime": total["gpu_capacity"], "deviceOffloadEfficiency": metrics.get("gpu", 1.0)}
    if not measures_threads(run):
        # Not 1, as if no thread had waited. talp-pages leaves null blank, and needs each member in some file.
        written |= {name: None for name in written if name.startswith(("omp", "numOmp", "parallel"))}
    return written


def text(run: Run) -> str:
    return json.dumps(talp(run), indent=2) + "\n"

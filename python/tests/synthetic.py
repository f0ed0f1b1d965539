# SPDX-License-Identifier: BSD-3-Clause
"""Makes run records of any size, as a simulator would write them: ranks in step, loads that differ and drift, cores
that move on each node, and one rank that is slow for a while.

python synthetic.py --ranks=4096 --steps=10000 -o large.json
"""

import argparse
import binascii
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from steelyard.samples import KEYS, PACKED, RARE, Samples, merge  # noqa: E402

THREADS, NODE = 6, 32  # threads per rank, ranks per node
STEP = 0.05  # s of a mean load


def pack(samples):
    """The packed form of a timeline, as the library writes it. Of what lies between samples nothing is kept."""
    columns = {name: getattr(samples, name) for name in PACKED if name != "length"}
    columns["length"] = samples.end - samples.start
    packed = {"samples": len(samples), "start": float(samples.start[0]) if len(samples) else 0.0}
    for name, kind in PACKED.items():
        if name in RARE and not columns[name].any():
            continue
        packed[name] = binascii.b2a_base64(columns[name].astype(kind).tobytes(), newline=False).decode("ascii")
    return packed


def record(ranks, steps, keep=None, packed=True, seed=1, drift=0.1):
    """The record as a dict. `keep`: samples that remain of each rank, as of a run with --timeline-samples; None keeps
    each step. `drift`: how far loads go up and down in the course of the run."""
    random = np.random.default_rng(seed)
    node = np.arange(ranks) // NODE
    load = STEP * THREADS * (1 + 0.5 * np.clip(random.standard_normal(ranks), -1.5, 2.5) * np.linspace(1, 0.3, ranks))
    load *= np.where(random.random(ranks) < 0.02, 1.6, 1.0)
    when = steps // 10 + (np.arange(node[-1] + 1) * 7919) % max(1, steps // 10)  # the step at which a node moves cores
    before = np.full(ranks, THREADS)
    after = np.concatenate([_divide(load[node == n]) for n in range(node[-1] + 1)])

    slow = slice(steps * 2 // 5, steps * 2 // 5 + max(1, steps // 100))
    busy = np.empty((ranks, steps), dtype=np.float32)
    for r in range(ranks):
        threads = np.where(np.arange(steps) < when[node[r]], before[r], after[r])
        slowly = 1 + drift * np.sin(np.linspace(0, 6, steps) + r / ranks * 3)
        busy[r] = load[r] / threads * slowly * (1 + 0.02 * random.standard_normal(steps).astype(np.float32))
    busy[ranks // 3, slow] *= 1.8
    step_end = np.cumsum(busy.max(axis=0) * 1.01 + 2e-4, dtype=np.float64)
    wall = float(step_end[-1])

    rows = []
    for r in range(ranks):
        end = step_end + 2e-5 * random.random(steps)
        start = np.concatenate([[0.0], end[:-1]])
        threads = np.where(np.arange(steps) < when[node[r]], before[r], after[r])
        lost = 0.03 + 0.02 * random.random(steps)
        outside = np.minimum(busy[r], end - start)
        samples = Samples(
            start,
            end,
            outside * threads * (1 - lost),
            outside * threads * lost,
            end - start - outside,
            threads,
            lent=np.zeros(steps),
            quiesced=np.zeros(steps),
            gpu_wait=np.zeros(steps),
        )
        rows.append(
            _rank(
                r,
                int(node[r]),
                samples,
                int(before[r]),
                int(after[r]),
                samples if keep is None else merge(samples, keep),
                packed,
                ranks // 3,
            )
        )

    lengths = np.diff(step_end, prepend=0.0)
    moved = int(when.max())
    nodes = [
        _node(n, int((node == n).sum()), steps, lengths[: max(1, int(when[n]))], lengths[moved:])
        for n in range(node[-1] + 1)
    ]
    moves = [_move(n, float(step_end[when[n]]), before[node == n], after[node == n]) for n in range(node[-1] + 1)]
    return {
        "schema": 2,
        "version": "0.1.0",
        "started": "2026-01-02T03:04:05Z",
        "command": ["./synthetic", f"--steps={steps}"],
        "options": {"cores": "on", "record": "synthetic.json"},
        "mpi": "none",
        "openmp": "none",
        "instrument": "simulated",
        "intercepted": [],
        "remarks": ["this record was made by a script; no program ran"],
        "wall": round(wall, 9),
        "metrics": _metrics(rows, node, wall),
        "nodes": nodes,
        "decisions": sorted(moves, key=lambda d: d["time"]),
        "loops": [_loop(i) for i in range(5)],
        "ranks": rows,
        "phases": [_phase()],
        "tasks": [_tasks(r, random) for r in range(ranks)],
    }


def _divide(load):
    """THREADS per rank, shared in proportion to the loads; one at least."""
    share = load / load.sum() * THREADS * len(load)
    threads = np.maximum(1, np.floor(share).astype(int))
    for i in np.argsort(threads - share)[: max(0, THREADS * len(load) - threads.sum())]:
        threads[i] += 1
    return threads


def _rank(r, node, samples, before, after, kept, packed, slow):
    ns = lambda seconds: int(round(float(seconds) * 1e9))  # noqa: E731
    length = samples.end - samples.start
    capacity, mpi = (length * samples.threads).sum(), samples.mpi_wait.sum()
    totals = {
        "wall": ns(samples.end[-1]),
        "serial": 0,
        "mpi": ns(mpi),
        "region_wall": ns(samples.end[-1] - mpi),
        "region_useful": ns(samples.useful.sum()),
        "omp_imbalance": ns(samples.omp_wait.sum() * 0.8),
        "omp_scheduling": ns(samples.omp_wait.sum() * 0.2),
        "omp_serialisation": 0,
        "mpi_capacity": ns((samples.mpi_wait * samples.threads).sum()),
        "capacity": ns(capacity),
        "lent": 0,
        "borrowed": 0,
        "regions": 2 * len(samples),
        "mpi_calls": len(samples),
    }
    columns = [np.round(getattr(kept, key), 9).tolist() for key in KEYS]
    return {
        "rank": r,
        "node": node,
        "pid": 1000 + r,
        "openmp": True,
        "threads_at_start": before,
        "threads_at_end": after,
        "thread_ceiling": 48,
        "fixed_reason": "",
        "totals_ns": totals,
        "waited_for": {} if r == slow else {str(slow): round(float(mpi) * 0.3, 9)},
        "timeline": pack(kept) if packed else [dict(zip(KEYS, row)) for row in zip(*columns)],
        "broadcasts": {
            "calls": 100,
            "shared": 90,
            "tree": 8,
            "library": 2,
            "late": 60 if r % 97 == 5 else 0,
            "behind": 0.2 if r % 97 == 5 else 0.0,
        },
    }


def _node(index, ranks, phases, before, after):
    def of(name, lengths):
        mean, half = float(lengths.mean()), float(2 * lengths.std() / np.sqrt(len(lengths)))
        return {name: round(mean, 9), f"{name}_low": round(mean - half, 9), f"{name}_high": round(mean + half, 9)}

    return {
        "index": index,
        "host": f"node{index:03}",
        "ranks": ranks,
        "cores": ranks * THREADS,
        "topology": "2 packages x 96 cores",
        "emulated": False,
        "phase_source": "collectives",
        "phases": phases,
        **of("phase_before", before),
        **of("phase_after", after),
        "nothing_moved": "",
    }


def _move(node, time, before, after):
    def words(counts):
        return ",".join(map(str, counts))

    return {
        "time": round(time, 9),
        "node": node,
        "capability": "cores",
        "what": f"threads {words(before)} -> {words(after)}",
        "why": "the longest process of the node gets shorter",
        "forecast_gain": 0.2,
        "forecast_low": 0.19,
        "forecast_high": 0.21,
        "cost": 0.0009,
        "outcome": "confirmed",
        "measured_gain": 0.19,
        "measured_low": 0.18,
        "measured_high": 0.2,
        "repeats": 1,
    }


def _loop(i):
    return {
        "site": f"synthetic+0x{4096 + 64 * i:x}",
        "ranks": 8,
        "executions": 3200,
        "iterations": 3200000,
        "threads": THREADS,
        "strategy": ["steal", "static", "runtime", "guided", "steal"][i],
        "why": "the fastest of those tried",
        "time": 9.0 / (i + 1),
        "idle": 0.02 * i,
        "stolen": 0.06,
    }


def _phase():
    narrow = {"resource": "core", "max_per_resource": 1, "processes": 8, "threads": 1, "seconds": 0.058}
    wide = {"resource": "NUMA domain", "max_per_resource": 1, "processes": 2, "threads": 4, "seconds": 0.04}
    return {
        "rank": 0,
        "node": 0,
        "number": 0,
        "processes": 8,
        "created": 1,
        "autotuned": True,
        "runs": 30,
        "seconds": 1.24,
        "best": 1,
        "configurations": [
            {**narrow, "gain": 0.31, "gain_low": 0.28, "gain_high": 0.33},
            wide,
            {**narrow, "resource": "machine", "processes": 1, "threads": 8, "seconds": 0},
        ],
    }


def _tasks(r, random):
    spawned = int(random.integers(500, 1500))
    return {
        "rank": r,
        "runs": 3,
        "spawned": spawned,
        "executed": 1000,
        "stolen_local": max(0, 1000 - spawned),
        "stolen_remote": 40,
        "results_sent": 90,
        "hops": 130,
        "messages": 300,
        "connections": 7,
        "degree": 8,
        "busy_seconds": 9.0,
        "run_seconds": 9.6,
        "transport": "messages",
    }


def _metrics(rows, node, wall):
    """The formulas of src/observe/metrics.h, where nothing is lent."""
    total = {name: np.array([row["totals_ns"][name] for row in rows]) * 1e-9 for name in rows[0]["totals_ns"]}
    cores = np.array([row["threads_at_start"] for row in rows], dtype=float)
    useful = total["region_useful"]
    fork, imbalance = total["omp_scheduling"].sum(), total["omp_imbalance"].sum()
    outside = useful + total["omp_scheduling"] + total["omp_imbalance"]
    busiest = total["region_wall"].max()
    by_node = np.array([outside[node == n].sum() / cores[node == n].sum() for n in range(node[-1] + 1)])
    inside, across = min(1.0, by_node.max() / busiest), min(1.0, outside.sum() / cores.sum() / by_node.max())
    communication, parallel = min(1.0, busiest / wall), min(1.0, useful.sum() / cores.sum() / wall)
    balance = inside * across
    scheduling, threads = 1 - fork / outside.sum(), 1 - imbalance / (outside.sum() - fork)
    return {
        "parallel": parallel,
        "mpi": balance * communication,
        "load_balance": balance,
        "load_balance_in": inside,
        "load_balance_out": across,
        "communication": communication,
        "openmp": scheduling * threads,
        "omp_load_balance": threads,
        "omp_scheduling": scheduling,
        "omp_serialisation": 1.0,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Makes a synthetic run record.")
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument(
        "--keep", type=int, help="samples kept of each rank, as --timeline-samples says; every step where not given"
    )
    parser.add_argument("--list", action="store_true", help="timelines as lists, as earlier versions wrote them")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    given.output.write_text(json.dumps(record(given.ranks, given.steps, given.keep, not given.list)))

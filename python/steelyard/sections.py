# SPDX-License-Identifier: BSD-3-Clause
"""The sections of the page: each answers the question in its title, or says in a sentence why the record cannot."""

from __future__ import annotations

from typing import Callable, Optional

from .broadcasts import broadcast_trees, broadcasts, scatters
from .detail import decisions, loops, nodes, ranks, tasks, tasks_flow
from .overview import activity, core_time, cores, efficiency, phases, waited_for
from .record import Run
from .section import Section, has_samples


def sections(run: Run) -> list[Section]:
    """Those that the record has data for, then one that names the others."""
    makers: list[Callable[[Run], Optional[Section]]] = [
        core_time,
        activity,
        cores,
        phases,
        waited_for,
        broadcasts,
        scatters,
        broadcast_trees,
        loops,
        tasks,
        tasks_flow,
        efficiency,
        decisions,
        ranks,
        nodes,
    ]
    made = [section for section in (make(run) for make in makers) if section is not None]
    return [*made, *filter(None, [absent(run), how(run)])]


def absent(run: Run) -> Optional[Section]:
    """What somebody may look for here, and why it is not there."""
    items = []
    if not has_samples(run):
        items.append(
            "No timeline and no cores over time: the record has no samples. It was made with --timeline-samples=0, "
            "or no phase ended."
        )
    if not len(run.waits) and len(run.ranks) > 1:
        items.append("Who was waited for is not known: no collective was seen on whose members Steelyard could look.")
    if not len(run.collectives):
        items.append("No broadcasts: Steelyard had taken none over (--collectives=auto or on does).")
    elif not run.record.get("trees"):
        items.append("No trees of broadcasts: no communicator spans nodes, or each made too few broadcasts for one.")
    if not len(run.loops):
        items.append(
            "No loops: the program has none with schedule(runtime), dynamic or guided that Steelyard can divide, or "
            "the record is older."
        )
    if not len(run.tasks):
        items.append("No tasks: the program called no task pool of Steelyard's.")
    return Section("absent", "What is not here, and why?", items=items) if items else None


def how(run: Run) -> Section:
    record = run.record
    told = [f"--{name}={value}" for name, value in sorted(record["options"].items()) if value not in ("", "none")]
    items = [
        f"Steelyard {record['version']}, {record['mpi'] or 'no MPI'}, {record['openmp'] or 'no OpenMP runtime'}.",
        f"Seen at work: {', '.join(record['intercepted']) or 'nothing'}.",
        f"Options: {' '.join(told) or 'none'}.",
        'The same numbers as data frames: import steelyard; run = steelyard.load("run.json"); run.ranks, run.timeline, '
        'run.decisions.',
    ]
    return Section("how", "How was this measured?", items=items)

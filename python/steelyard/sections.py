# SPDX-License-Identifier: BSD-3-Clause
"""The sections of the page. Each answers the question in its title; the last ones say which data the record lacks."""

from __future__ import annotations

from typing import Callable, Optional

from .broadcasts import broadcast_trees, broadcasts, scatters
from .detail import decisions, loops, nodes, other_regions, phase_configurations, ranks, regions, tasks, tasks_flow
from .overview import activity, core_time, cores, efficiency, phases, waited_for
from .record import Run
from .section import Section, has_samples


def sections(run: Run) -> list[Section]:
    """The sections for which the record has data, then a section that names the others."""
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
        phase_configurations,
        tasks,
        tasks_flow,
        efficiency,
        regions,
        other_regions,
        decisions,
        ranks,
        nodes,
    ]
    made = [section for section in (make(run) for make in makers) if section is not None]
    return [*made, *filter(None, [absent(run), how(run)])]


def absent(run: Run) -> Optional[Section]:
    """The sections that a reader may expect, and why the record has no data for them."""
    items = []
    if not has_samples(run):
        items.append(
            "No timeline: the record has no samples, because of --timeline-samples=0 or because no step ended."
        )
    if not len(run.waits) and len(run.ranks) > 1:
        items.append(
            "Critical ranks are not known: Steelyard saw no collective for which it can tell the last rank to arrive."
        )
    if not len(run.collectives):
        items.append(_no_broadcasts(run))
    elif not run.record.get("trees"):
        items.append("No broadcast trees: no communicator spans nodes, or each had too few broadcasts to build a tree.")
    if not len(run.loops):
        items.append(
            "No loops: the program has no loop with schedule(runtime), dynamic or guided that Steelyard can take over,"
            " or the record is older."
        )
    if not len(run.tasks):
        items.append("No tasks: the program does not use Steelyard's task pools.")
    return Section("absent", "What is missing here, and why?", items=items) if items else None


def _no_broadcasts(run: Run) -> str:
    options = run.record["options"]
    if options.get("observe") == "on":
        return "No broadcasts: Steelyard only observed (--observe)."
    if options.get("collectives") in ("auto", "on"):
        return "No broadcasts: Steelyard saw no MPI_Bcast or MPI_Scatter between ranks."
    return "No broadcasts: Steelyard took over none. To take them over, use --collectives=auto or --collectives=on."


def how(run: Run) -> Section:
    record = run.record
    told = [
        f"--{name}={value}"
        for name, value in sorted(record["options"].items())
        if value not in ("", "none") and name != "blocktime-auto"
    ]
    tool = record.get("openmp_tool")
    openmp = record["openmp"] or (f"OpenMP not measured: {tool} uses OMPT" if tool else "no OpenMP runtime")
    items = [
        f"Steelyard {record['version']}, {record['mpi'] or 'no MPI'}, {openmp}.",
        f"Intercepted: {', '.join(record['intercepted']) or 'nothing'}.",
        f"Options: {' '.join(told) or 'none'}.",
        (
            'The same data in Python, as data frames: import steelyard; run = steelyard.load("run.json"); run.ranks,'
            " run.timeline, run.decisions."
        ),
    ]
    return Section("how", "How was this measured?", items=items)

# SPDX-License-Identifier: BSD-3-Clause
"""Sections with tables of loops, tasks, phases, decisions, ranks and nodes."""

from __future__ import annotations

from typing import Optional

import pandas as pd

from .charts import Bar, bars
from .record import Run
from .section import MOST, ROWS, Section, core_shares, first_of
from .table import Cell, Column, Table, count, meaning, nothing, seconds, share, text
from .words import band, bounds, core_time, duration, level, number, outcome, percent, plural


def loops(run: Run) -> Optional[Section]:
    frame = run.loops.head(MOST)
    if not len(frame):
        return None
    columns = [Column("loop", meaning("loop", "site"), False), Column("divided by", meaning("loop", "strategy"), False)]
    columns += [
        Column(name, meaning("loop", member))
        for name, member in (
            ("time", "time"),
            ("idle", "idle"),
            ("moved", "stolen"),
            ("executions", "executions"),
            ("iterations", "iterations"),
            ("threads", "threads"),
        )
    ]
    columns += [Column("gain", meaning("loop", "gain")), Column("over", meaning("loop", "against"), False)]
    table = Table([*columns, Column("why", meaning("loop", "why"), False)])
    for site, row in frame.iterrows():
        ours = row["strategy"] != "runtime"
        table.add(
            text(site),
            text(row["strategy"] if ours else "OpenMP runtime"),
            seconds(row["time"]),
            share(row["idle"], 1),
            share(row["stolen"], 1) if ours else nothing(),
            count(row["executions"]),
            count(row["iterations"]) if row["iterations"] else nothing(),
            count(row["threads"]) if row["threads"] else nothing(),
            (
                Cell(band(row["gain"], row["gain_low"], row["gain_high"], run.confidence), float(row["gain"]))
                if row["against"]
                else Cell("not measured", 0.0)
            ),
            text(row["against"]) if row["against"] else nothing(),
            text(row["why"]),
            kind="" if ours else "declined",
        )
    caption = (
        "Idle: share of the threads' time in the loop. Moved: share of iterations that a thread other than their owner"
        " ran. "
    )
    caption += (
        "Gain: reduction of the loop's time compared to the strategy in the next column, measured in trials of auto."
    )
    return Section("loops", "How were the iterations of each loop divided?", table=table, caption=caption)


def regions(run: Run) -> Optional[Section]:
    frame = run.regions.head(MOST)
    if not len(frame):
        return None
    efficiencies = (
        ("efficiency", "parallel"),
        ("MPI", "mpi"),
        ("load balance", "load_balance"),
        ("communication", "communication"),
        ("OpenMP", "openmp"),
        ("OpenMP load balance", "omp_load_balance"),
        ("scheduling", "omp_scheduling"),
        ("serialisation", "omp_serialisation"),
    )
    table = Table(
        [
            Column("region", meaning("region", "name"), False),
            Column("time", meaning("region", "wall")),
            Column("of the run", "share of the run's time"),
            Column("executions", "of the rank with most"),
            Column("ranks", meaning("region", "ranks")),
            *(Column(name, meaning("metrics", member)) for name, member in efficiencies),
        ]
    )
    wall = run.record["wall"]
    for name, row in frame.iterrows():
        table.add(
            text(name),
            seconds(row["wall"]),
            share(row["wall"] / wall if wall else 0.0),
            count(row["count"]),
            count(row["ranks"]),
            *(share(row[member], 1) for _, member in efficiencies),
        )
    caption = f"An outer region includes the regions inside it. {first_of(len(run.regions), 'regions')}".rstrip()
    return Section("regions", "How efficient was each region of the program?", table=table, caption=caption)


def other_regions(run: Run) -> Optional[Section]:
    frame = run.other_regions.head(MOST)
    if not len(frame):
        return None
    table = Table(
        [
            Column("region", meaning("other_region", "site"), False),
            Column("in", meaning("other_region", "function"), False),
            Column("begun", meaning("other_region", "nested"), False),
            Column("time", meaning("other_region", "time")),
            Column("useful", meaning("other_region", "useful")),
            Column("load balance", "useful / (useful + imbalance): threads of the team wait for each other"),
            Column("executions", meaning("other_region", "executions")),
            Column("threads", meaning("other_region", "threads")),
            Column("ranks", meaning("other_region", "ranks")),
        ]
    )
    for site, row in frame.iterrows():
        both = row["useful"] + row["imbalance"]
        table.add(
            text(site),
            text(row["function"]) if row["function"] else nothing(),
            text("in a region" if row["nested"] else "by another thread"),
            seconds(row["time"]),
            seconds(row["useful"]),
            share(row["useful"] / both, 1) if row["threads"] > 1 and both else nothing(),
            count(row["executions"]),
            count(row["threads"]),
            count(row["ranks"]),
        )
    caption = (
        "Their time is in the figures of the ranks. No cores move for them. "
        f"{first_of(len(run.other_regions), 'regions')}"
    ).rstrip()
    return Section(
        "other_regions", "Which regions are nested, or begun by other threads?", table=table, caption=caption
    )


def tasks(run: Run) -> Optional[Section]:
    frame = run.tasks
    if not len(frame):
        return None
    sums = frame.sum()
    most = int(frame["connections"].max())
    hops = sums["hops"] / sums["results_sent"] if sums["results_sent"] else 0.0
    busy = sums["busy_seconds"] / sums["run_seconds"] if sums["run_seconds"] else 0.0
    words = [
        f"{number(sums['spawned'])} tasks were spawned and {number(sums['executed'])} executed; {percent(busy)} of the"
        f" time in runs was spent in tasks. A result took {hops:.2f} transfers to return to its owner. "
        + (
            f"No rank exchanged messages with more than {plural(most, 'rank')} of other nodes."
            if most
            else "No rank exchanged messages with other nodes."
        )
    ]
    order = (
        frame.index
        if len(frame) <= ROWS
        else (frame["stolen_local"] + frame["stolen_remote"]).sort_values(ascending=False).index[:ROWS]
    )
    rows = []
    for rank in order:
        row = frame.loc[rank]
        parts = [
            ("useful", float(row["executed"] - row["stolen_local"] - row["stolen_remote"])),
            ("lent", float(row["stolen_local"])),
            ("omp", float(row["stolen_remote"])),
        ]
        rows.append(Bar(f"rank {rank}", parts, f"{number(row['executed'])} of {number(row['spawned'])} spawned"))
    legend = (("useful", "its own"), ("lent", "from other threads of the node"), ("omp", "from other nodes"))
    caption = (
        f"The {len(rows)} of {len(frame)} ranks that executed most tasks of other threads are shown."
        if len(rows) < len(frame)
        else ""
    )
    return Section(
        "tasks",
        "Where did the tasks that each rank executed come from?",
        words,
        legend,
        bars(rows, number),
        caption=caption,
    )


def tasks_flow(run: Run) -> Optional[Section]:
    frame = run.tasks.head(MOST)
    if not len(frame):
        return None
    members = (
        "spawned",
        "executed",
        "stolen_local",
        "stolen_remote",
        "results_sent",
        "hops",
        "messages",
        "connections",
        "degree",
    )
    names = (
        "spawned",
        "executed",
        "from own node",
        "from other nodes",
        "results sent",
        "hops",
        "messages",
        "connections",
        "possible connections",
    )
    table = Table(
        [
            Column("rank"),
            *(Column(name, meaning("tasks", member)) for name, member in zip(names, members)),
            Column("in tasks", meaning("tasks", "busy_seconds")),
        ]
    )
    for rank, row in frame.iterrows():
        inside = share(row["busy_seconds"] / row["run_seconds"]) if row["run_seconds"] else nothing()
        table.add(Cell(str(rank), float(str(rank))), *(count(row[member]) for member in members), inside)
    caption = first_of(len(run.tasks), "ranks")
    return Section(
        "task-flow", "How many tasks, results and connections did each rank have?", table=table, caption=caption
    )


def phase_configurations(run: Run) -> Optional[Section]:
    frame = run.phases.head(MOST)
    if not len(frame):
        return None
    several = len(run.nodes) > 1
    table = Table(
        [
            Column("phase", meaning("phase", "number")),
            *([Column("node")] if several else []),
            Column("runs", meaning("phase", "runs")),
            Column("time", meaning("phase", "seconds")),
            Column("processes", meaning("configuration", "processes")),
            Column("threads", meaning("configuration", "threads")),
            Column("at most", meaning("configuration", "max_per_resource"), False),
            Column("a run", meaning("configuration", "seconds")),
            Column("fastest saves", meaning("configuration", "gain")),
        ]
    )
    told = -1
    for _, row in frame.iterrows():
        gain = Cell("is the fastest" if row["best"] else "not compared", 0.0) if row["autotuned"] else nothing()
        if pd.notna(row["gain"]):
            words = band(row["gain"], row["gain_low"], row["gain_high"], run.confidence)
            gain = Cell(words, float(row["gain"]))
        first, told = row["phase"] != told, row["phase"]
        table.add(
            count(row["number"]),
            *([count(row["node"])] if several else []),
            count(row["runs"]) if first else nothing(),
            seconds(row["total"]) if first else nothing(),
            Cell(f"{row['processes']} of {row['sharing']}", float(row["processes"])),
            count(row["threads"]),
            text(f"{row['max_per_resource']} for each {row['resource']}"),
            seconds(row["seconds"]) if row["seconds"] else nothing(),
            gain,
            kind="" if row["best"] else "declined",
        )
    caption = first_of(len(run.phases), "configurations")
    return Section(
        "phase-configurations", "How many processes and threads worked in each phase?", table=table, caption=caption
    )


def decisions(run: Run) -> Optional[Section]:
    frame = run.decisions
    if not len(frame):
        return None
    shown = frame
    if len(frame) > MOST:  # moves come before declined plans
        order = frame.assign(declined=frame["outcome"] == "declined")
        order = order.sort_values(["declined", "forecast_gain"], ascending=[True, False])
        shown = order.head(MOST).sort_values("time")
    several = len(run.nodes) > 1
    table = Table(
        [
            Column("at"),
            *([Column("node")] if several else []),
            Column("plan", meaning("decision", "what"), False),
            Column("outcome", meaning("decision", "outcome"), False),
            Column("forecast", meaning("decision", "forecast_gain")),
            Column("measured", meaning("decision", "measured_gain")),
            Column("cost", meaning("decision", "cost")),
            Column("why", meaning("decision", "why"), False),
        ]
    )
    for _, row in shown.iterrows():
        measured = nothing()
        if row["outcome"] in ("confirmed", "undone", "undecided") and (row["measured_low"] or row["measured_high"]):
            words = band(row["measured_gain"], row["measured_low"], row["measured_high"], run.confidence)
            measured = Cell(words, float(row["measured_gain"]))
        times = f" ({number(row['repeats'])} times)" if row["repeats"] > 1 else ""
        table.add(
            seconds(row["time"]),
            *([count(row["node"])] if several else []),
            text(
                row["what"].replace("->", "→").replace(",", ",\u200b") or "no move"
            ),  # long lists may go on in the next line
            text(outcome(row["outcome"]) + times),
            Cell(
                f"{percent(row['forecast_gain'], 1)} ({bounds(row['forecast_low'], row['forecast_high'])})",
                float(row["forecast_gain"]),
            ),
            measured,
            seconds(row["cost"]),
            text(row["why"]),
            kind="declined" if row["outcome"] == "declined" else "",
        )
    caption = (
        "Gains are reductions of the step time: forecasts with their uncertainty, measured gains with confidence"
        " intervals. Declined plans are pale."
    )
    if len(shown) < len(frame):
        caption += (
            f" {len(shown)} of {len(frame)} decisions are shown: all moves first, then the declined plans with the"
            " largest forecast."
        )
    return Section("decisions", "What was decided, why, and with which outcome?", table=table, caption=caption)


def ranks(run: Run) -> Optional[Section]:
    frame = run.ranks
    if not len(frame):
        return None
    shown = frame if len(frame) <= MOST else frame.sort_values("mpi", ascending=False).head(MOST).sort_index()
    printed = run.thresholds["printed_core_time"]
    lends = bool((frame["lent"] >= printed).any() or (frame["borrowed"] >= printed).any())
    sleeps = bool((frame["quiesced"] > 0).any())
    columns = [
        Column("rank"),
        Column("node"),
        Column("threads", meaning("rank", "threads_at_start")),
        Column("at end", meaning("rank", "threads_at_end")),
        Column("computing", "share of its core time"),
        Column("in OpenMP", "waiting in OpenMP, share of its core time"),
        Column("in MPI", "waiting in MPI, share of its core time"),
        *([Column("asleep", "while other ranks work in a phase, share of its core time")] if sleeps else []),
        Column("outside MPI", "wall time"),
        Column("waiting in MPI", meaning("totals", "mpi")),
    ]
    if lends:
        columns += [Column("lent", meaning("totals", "lent")), Column("borrowed", meaning("totals", "borrowed"))]
    columns += [Column("regions", meaning("totals", "regions")), Column("MPI calls", meaning("totals", "mpi_calls"))]
    table = Table(columns)
    parts = core_shares(run)
    for (rank, row), (_, part) in zip(shown.iterrows(), parts.loc[shown.index].iterrows()):
        lent = [_core_time(row[name], printed) for name in ("lent", "borrowed")] if lends else []
        table.add(
            Cell(str(rank), float(str(rank))),
            count(row["node"]),
            count(row["threads_at_start"]),
            count(row["threads_at_end"]),
            share(part["useful"]),
            share(part["omp"]),
            share(part["mpi"]),
            *([share(part["quiesced"])] if sleeps else []),
            seconds(row["busy"]),
            seconds(row["mpi"] - row["quiesced"]),
            *lent,
            count(row["regions"]),
            count(row["mpi_calls"]),
        )
    caption = (
        f"The {MOST} of {number(len(frame))} ranks that waited longest are shown." if len(shown) < len(frame) else ""
    )
    return Section("ranks", "How did each rank spend its time?", table=table, caption=caption)


def nodes(run: Run) -> Optional[Section]:
    frame = run.nodes.head(MOST)
    if not len(frame):
        return None
    table = Table(
        [
            Column("node"),
            Column("host", "", False),
            Column("ranks"),
            Column("cores", meaning("node", "cores")),
            Column("topology", "", False),
            Column("steps", meaning("node", "phases")),
            Column("steps found by", meaning("node", "phase_source"), False),
            Column("before", meaning("node", "phase_before")),
            Column("after", meaning("node", "phase_after")),
            Column("nothing moved because", meaning("node", "nothing_moved"), False),
        ]
    )
    for index, row in frame.iterrows():
        lengths = [
            (
                Cell(
                    f"{duration(row[name])} ({level(run.confidence)} {duration(row[name + '_low'])} to"
                    f" {duration(row[name + '_high'])})",
                    float(row[name]),
                )
                if row[name] > 0
                else nothing()
            )
            for name in ("phase_before", "phase_after")
        ]
        table.add(
            Cell(str(index), float(str(index))),
            text(row["host"]),
            count(row["ranks"]),
            count(row["cores"]),
            text(row["topology"]),
            count(row["phases"]),
            text(row["phase_source"]),
            *lengths,
            text(row["nothing_moved"] or "–"),
        )
    return Section(
        "nodes",
        "What did each node have, and how long were its steps?",
        table=table,
        caption=first_of(len(run.nodes), "nodes"),
    )


def _core_time(value: float, printed: float) -> Cell:
    return Cell(core_time(value), float(value)) if value >= printed else nothing()

# SPDX-License-Identifier: BSD-3-Clause
"""Sections of the run as a whole: where time went, who waited for whom, whether it helped."""

from __future__ import annotations

from typing import Optional

from .charts import Bar, bars
from .record import Run
from .samples import most_threads
from .section import ACTIVITY, LINES, ROWS, Section, core_shares, has_samples, timeline_legend
from .table import meaning
from .summary import gains, shares
from .words import band, duration, number, percent, plural


def core_time(run: Run) -> Optional[Section]:
    parts = shares(run)
    rows = [
        Bar(
            "all ranks",
            [("useful", parts.useful), ("omp", parts.omp), ("mpi", parts.mpi)],
            f"{percent(parts.useful)} computing",
        )
    ]
    frame = core_shares(run)
    if 1 < len(frame) <= ROWS:
        order = frame
    else:
        order = frame.sort_values("mpi", ascending=False).head(ROWS if len(frame) > 1 else 0)
    for rank, row in order.iterrows():
        rows.append(
            Bar(
                f"rank {rank}",
                [(kind, float(row[kind])) for kind, _ in ACTIVITY],
                f"{percent(row['useful'])} computing",
            )
        )
    more = (
        f"Shown are the {len(order)} of {len(frame)} ranks that waited most in MPI."
        if len(frame) > len(order) > 0
        else ""
    )
    if len(run.ranks) == 0:
        return None
    return Section(
        "core-time", "Where did the core time go?", legend=ACTIVITY, svg=bars(rows, percent, 1.0), caption=more
    )


def activity(run: Run) -> Optional[Section]:
    if not has_samples(run):
        return None
    caption = (
        "A row is a rank. Where a pixel holds more than one activity, their colours are mixed by share; once zoomed "
        "in, each sample computes first and waits in MPI then. Drag to move; the wheel zooms time once the picture was "
        "clicked, with Shift ranks; double-click, arrow keys, + and − work, too."
    )
    if moves := int((run.decisions["outcome"] != "declined").sum()):
        caption += " Dashed lines: cores moved."
        if moves > LINES:
            caption += f" They are drawn where no more than {LINES} of the {number(moves)} are in the picture: zoom in."
    caption += _merged(run)
    return Section(
        "timeline",
        "Who computes, who waits, and when?",
        legend=timeline_legend(run),
        canvas="activity",
        height=_height(run),
        caption=caption,
    )


def _merged(run: Run) -> str:
    """How much a sample is, where it is more than one phase of the program."""
    lists = [(rank["node"], rank["timeline"]) for rank in run.record["ranks"]]
    counts = [(node, timeline["samples"] if isinstance(timeline, dict) else len(timeline)) for node, timeline in lists]
    phases = run.nodes["phases"].to_dict()
    length, kept = max(((phases.get(node, 0) / count, count) for node, count in counts if count), default=(0.0, 0))
    if length < 1.5:
        return ""
    return (
        f" A sample is about {number(round(length))} phases of the program: {number(kept)} were kept of a rank. "
        "With --timeline-samples=N, the next run keeps up to N, none shorter than 2 ms."
    )


def cores(run: Run) -> Optional[Section]:
    if not has_samples(run):
        return None
    before, after = run.ranks["threads_at_start"], run.ranks["threads_at_end"]
    changed = int((before != after).sum())
    words = f"All {plural(len(before), 'rank')} ended with the cores that they began with."
    if changed:
        words = f"{plural(changed, 'rank')} of {number(len(before))} ended with other cores than they began with."
    most = max(most_threads(rank["timeline"]) for rank in run.record["ranks"])
    caption = (
        f"The darker or higher, the more threads a rank has; the most is {most}. The picture follows the zoom of the"
        " one above."
    )
    return Section(
        "cores", "How many cores did each process have?", [words], canvas="cores", height=_height(run), caption=caption
    )


def _height(run: Run) -> int:
    return int(min(440, max(90, 26 * len(run.ranks)))) + 32


def phases(run: Run) -> Optional[Section]:
    found = gains(run)
    if not found:
        return None
    shown = found[::-1][:ROWS]
    rows = []
    noises = run.nodes[["phase_before_noise", "phase_after_noise"]].to_dict("index")
    for gain in shown:
        before, after = noises[gain.node].values()
        name = f"node {gain.node}" if len(run.nodes) > 1 else "a phase"
        rows.append(Bar(f"{name}, before", [("mpi", gain.before)], duration(gain.before), noise=before))
        words = f"{duration(gain.after)}: {band(abs(gain.value), gain.noise)} {'less' if gain.value > 0 else 'more'}"
        rows.append(
            Bar("after", [("useful", gain.after)], words if len(shown) <= 3 else duration(gain.after), words, after)
        )
    caption = (
        "A phase is what the program repeats between collectives or steps. The bands at the ends of the bars are noise."
    )
    if len(found) > len(shown):
        caption += f" Shown are the {len(shown)} of {len(found)} nodes that gained most."
    return Section("phases", "Did the moves make a phase shorter?", svg=bars(rows, duration), caption=caption)


def waited_for(run: Run) -> Optional[Section]:
    if not len(run.waits):
        return None
    by_cause = run.waits.groupby("waited_for")["seconds"].agg(["sum", "count"]).sort_values("sum", ascending=False)
    known, all_waits = float(by_cause["sum"].sum()), float(run.ranks["mpi"].sum())
    rows = []
    for rank, row in by_cause.head(ROWS).iterrows():
        words = f"{duration(row['sum'])} by {plural(int(row['count']), 'rank')}"
        rows.append(Bar(f"rank {rank}", [("mpi", float(row["sum"]))], words))
    told = (
        f"For {percent(min(1.0, known / all_waits))} of the time that ranks spent in MPI, it is known who came last."
        if all_waits > 0
        else ""
    )
    more = (
        f" Shown are the {ROWS} of {len(by_cause)} ranks that were waited for longest." if len(by_cause) > ROWS else ""
    )
    return Section(
        "waits",
        "Who was waited for?",
        [told + more],
        svg=bars(rows, duration),
        caption="Summed over the ranks that waited.",
    )


def efficiency(run: Run) -> Optional[Section]:
    if not len(run.ranks):
        return None
    tree = (
        ("parallel", "parallel efficiency", 0),
        ("mpi", "MPI", 1),
        ("load_balance", "MPI load balance", 2),
        ("load_balance_in", "inside nodes", 3),
        ("load_balance_out", "across nodes", 3),
        ("communication", "communication", 2),
        ("openmp", "OpenMP", 1),
        ("omp_load_balance", "OpenMP load balance", 2),
        ("omp_scheduling", "scheduling", 2),
        ("omp_serialisation", "serialisation", 2),
    )
    rows = [
        Bar(
            name,
            [("useful", float(run.metrics[member]))],
            percent(run.metrics[member], 1),
            meaning("metrics", member),
            depth=depth,
        )
        for member, name, depth in tree
    ]
    words = ["As POP and TALP split it: each is the product of those that are indented below it."]
    return Section("efficiency", "What is efficiency lost to?", words, svg=bars(rows, percent, 1.0))

# SPDX-License-Identifier: BSD-3-Clause
"""Sections about the whole run: core time, waits, critical ranks, moves of cores and their effect."""

from __future__ import annotations

from typing import Any, Optional

from .charts import Bar, bars
from .record import Run
from .samples import most_threads
from .section import LINES, ROWS, Section, activities, core_shares, has_samples, timeline_legend
from .table import meaning
from .shares import measures_threads, shares
from .summary import cores_were_borrowed, gains
from .words import duration, number, percent, plural


def core_time(run: Run) -> Optional[Section]:
    parts = shares(run)
    rows = [
        Bar(
            "all ranks",
            [
                ("useful", parts.useful),
                ("omp", parts.omp),
                ("mpi", parts.mpi),
                ("quiesced", parts.asleep),
                ("gpu_wait", parts.gpu),
            ],
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
                [(kind, float(row[kind])) for kind, _ in activities(run)],
                f"{percent(row['useful'])} computing",
            )
        )
    more = (
        f"The {len(order)} of {len(frame)} ranks that waited longest in MPI are shown."
        if len(frame) > len(order) > 0
        else ""
    )
    if cores_were_borrowed(run):
        more = f"{more} A rank's bar has the cores that it borrowed, too. All ranks: each core once.".strip()
    if len(run.ranks) == 0 or not measures_threads(run):
        return None
    return Section(
        "core-time", "Where did the core time go?", legend=activities(run), svg=bars(rows, percent, 1.0), caption=more
    )


def activity(run: Run) -> Optional[Section]:
    if not has_samples(run):
        return None
    caption = (
        "Each row is a rank. If a pixel covers several activities, it shows their colours mixed by share. Zoomed in,"
        " each sample is drawn as computing, followed by waiting in MPI. Drag to move. Click the chart, then use the"
        " mouse wheel to zoom time, or Shift and the wheel to zoom ranks. Double-click, arrow keys, + and − also work."
    )
    if moves := len(run.moves):
        caption += " Dashed lines mark moves of cores."
        if moves > LINES:
            caption += f" To see them, zoom in until at most {LINES} of the {number(moves)} moves are in the chart."
    caption += _merged(run)
    return Section(
        "timeline",
        "When does each rank compute or wait?",
        legend=timeline_legend(run),
        canvas="activity",
        height=_height(run),
        caption=caption,
    )


def _merged(run: Run) -> str:
    """How many steps a sample covers, if it is more than one."""
    lists = [(rank["node"], rank["timeline"]) for rank in run.record["ranks"]]
    counts = [(node, timeline["samples"] if isinstance(timeline, dict) else len(timeline)) for node, timeline in lists]
    phases = run.nodes["phases"].to_dict()
    length, kept = max(((phases.get(node, 0) / count, count) for node, count in counts if count), default=(0.0, 0))
    if length < 1.5:
        return ""
    return (
        f" Each sample covers about {number(round(length))} steps; {number(kept)} samples per rank were recorded. "
        "To record more, use --timeline-samples=N (a sample is never shorter than 2 ms)."
    )


def cores(run: Run) -> Optional[Section]:
    if not has_samples(run):
        return None
    before, after = run.ranks["threads_at_start"], run.ranks["threads_at_end"]
    changed = int((before != after).sum())
    words = "Each rank ended with the number of cores that it started with."
    if changed:
        words = f"{plural(changed, 'rank')} of {number(len(before))} ended with more or fewer cores than at the start."
    most = max(most_threads(rank["timeline"]) for rank in run.record["ranks"])
    caption = (
        f"Darker or higher means more threads per rank, at most {most}. The chart follows the zoom of the timeline"
        " above."
    )
    return Section(
        "cores", "How many cores did each rank have?", [words], canvas="cores", height=_height(run), caption=caption
    )


def _height(run: Run) -> int:
    return int(min(440, max(90, 26 * len(run.ranks)))) + 32


def phases(run: Run) -> Optional[Section]:
    found = gains(run)
    if not found:
        return None
    shown = found[::-1][:ROWS]
    rows = []
    for gain in shown:
        node: Any = run.nodes.loc[gain.node]
        before = (float(node["phase_before_low"]), float(node["phase_before_high"]))
        after = (float(node["phase_after_low"]), float(node["phase_after_high"]))
        name = f"node {gain.node}" if len(run.nodes) > 1 else "a step"
        rows.append(Bar(f"{name}, before", [("mpi", gain.before)], duration(gain.before), interval=before))
        words = f"{duration(gain.after)}: {gain.words(run.confidence)}"
        rows.append(
            Bar("after", [("useful", gain.after)], words if len(shown) <= 3 else duration(gain.after), words, after)
        )
    caption = (
        "A step is one iteration of the program's main loop. The ranges at the ends of the bars are "
        f"{100 * run.confidence:g} % confidence intervals."
    )
    if len(found) > len(shown):
        caption += f" The {len(shown)} of {len(found)} nodes with the largest gain are shown."
    return Section("phases", "Did the moves make a step shorter?", svg=bars(rows, duration), caption=caption)


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
        f"The critical rank is known for {percent(min(1.0, known / all_waits))} of the time that ranks spent in MPI."
        if all_waits > 0
        else ""
    )
    more = f" The {ROWS} of {len(by_cause)} ranks that caused most waiting are shown." if len(by_cause) > ROWS else ""
    return Section(
        "waits",
        "Which ranks were on the critical path?",
        [told + more],
        svg=bars(rows, duration),
        caption="Each bar is the time that other ranks waited for this rank, summed over the waiting ranks.",
    )


def efficiency(run: Run) -> Optional[Section]:
    if not len(run.ranks):
        return None
    tree: tuple[tuple[str, str, int], ...] = (
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
    question = "What lowers the parallel efficiency?"
    if not measures_threads(run):
        question = "What lowers the MPI efficiency?"
        tree = tuple((member, name, depth - 1) for member, name, depth in tree[1:6])
    elif run.metrics["gpu"] < 1:
        tree += (("gpu", "waits for GPUs", 1),)
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
    words = ["Factors of POP and TALP: each is the product of the factors that are indented below it."]
    return Section("efficiency", question, words, svg=bars(rows, percent, 1.0))

# SPDX-License-Identifier: BSD-3-Clause
"""The summary in whole sentences: how much was waiting, what was moved, and whether it helped."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import pandas as pd

from .record import Run
from .shares import measures_threads, shares
from .trees import trees
from .words import band, core_time, counts, duration, excludes_zero, number, numbered, percent, plural


@dataclass(frozen=True)
class Gain:
    """How much shorter a step of a node became, as a fraction, with the bounds of its confidence interval."""

    node: int
    value: float
    low: float
    high: float
    before: float
    after: float

    @property
    def significant(self) -> bool:
        return excludes_zero(self.low, self.high)

    def words(self, confidence: float) -> str:
        """ "12.0 % (95 % CI 11.0 to 13.0 %) less"."""
        if self.value > 0:
            return f"{band(self.value, self.low, self.high, confidence)} less"
        return f"{band(-self.value, -self.high, -self.low, confidence)} more"


@dataclass(frozen=True)
class Summary:
    """`headline` says it in one sentence; the others answer one question each, in whole sentences."""

    headline: str
    waiting: str
    moved: str
    helped: str
    notes: list[str]


_ONE_RANK = (
    "one rank on the node, so no other rank to exchange cores with; start more ranks: "
    "mpirun -n N steelyard run PROGRAM"
)


def gains(run: Run) -> list[Gain]:
    """Of the nodes on which cores moved and stayed, by the phases before the first move and after the last; least
    first."""
    moves = run.moves
    found = []
    for index, node in run.nodes.iterrows():
        outcomes = set(moves.loc[moves["node"] == index, "outcome"])
        before, after = float(node["phase_before"]), float(node["phase_after"])
        if not outcomes - {"undone"} or not (before > 0 and after > 0):
            continue
        rest = after / before
        half = rest * math.hypot(*(
            (node[f"{name}_high"] - node[f"{name}_low"]) / 2 / node[name] for name in ("phase_before", "phase_after")
        ))
        found.append(Gain(int(str(index)), 1 - rest, 1 - rest - half, 1 - rest + half, before, after))
    return sorted(found, key=lambda gain: gain.value)


def summary(run: Run) -> Summary:
    moves = run.moves
    helped = _helped(run, moves)
    return Summary(_headline(run, moves), _waiting(run), _moved(run, moves), helped, _notes(run))


def _headline(run: Run, moves: pd.DataFrame) -> str:
    if not len(run.ranks):
        return "The record holds no ranks, so nothing was measured."
    if run.ranks["regions"].sum() == 0 and run.ranks["mpi_calls"].sum() == 0:
        return "Nothing was measured: no OpenMP region and no blocking MPI call was seen."
    lost = shares(run)
    waiting = f"{percent(lost.mpi)} of the core time was spent waiting in MPI"
    if run.record["options"].get("observe") == "on":
        return f"{waiting}; Steelyard only observed."
    if not len(moves):
        also = _other_moves(run)
        return f"{waiting}; no cores were moved by plan{', but ' + also if also else ''}."
    if set(moves["outcome"]) == {"undone"}:
        return f"{waiting}; moving cores did not help, so the moves were reverted."
    found = gains(run)
    if not found:
        return f"{waiting}; cores were moved, and the run ended before the effect could be measured."
    best = found[-1]
    if not best.significant:
        return f"{waiting}; cores were moved, with no statistically significant effect."
    if best.value < 0:
        return f"{waiting}; cores were moved, and a step takes {best.words(run.confidence)} time."
    where = f" on node {best.node}, which gained most" if len(found) > 1 else ""
    return f"Cores were moved to the critical ranks: a step takes {best.words(run.confidence)} time{where}."


def cores_were_borrowed(run: Run) -> bool:
    """For long enough to be told."""
    return float(run.ranks["borrowed"].sum()) >= run.thresholds["printed_core_time"]


def _other_moves(run: Run) -> str:
    if cores_were_borrowed(run):
        return "ranks that waited lent theirs to others"
    if len(run.tasks) and (run.tasks["stolen_local"] + run.tasks["stolen_remote"]).sum() > 0:
        return "tasks were"
    if any(tree.held_last < tree.held_first for tree in trees(run)):
        return "late ranks were moved out of the way of broadcasts"
    return ""


def _waiting(run: Run) -> str:
    parts = shares(run)
    if not measures_threads(run):
        text = (
            f"Of all core time, {percent(parts.mpi)} was waiting in MPI. How much was computing is not known: only "
            "threads of OpenMP regions are measured, and none was seen."
        )
        return _waiting_ranks(run, text)
    gpu = f", {percent(parts.gpu)} waiting for GPUs" if parts.gpu > 0 else ""
    asleep = f", {percent(parts.asleep)} asleep in phases" if parts.asleep > 0 else ""
    text = (
        f"Of all core time, {percent(parts.useful)} was computing, {percent(parts.mpi)} waiting in MPI{asleep}{gpu} "
        f"and {percent(parts.omp)} lost in OpenMP."
    )
    return _waiting_ranks(run, text)


def _in_mpi(run: Run) -> pd.Series[Any]:
    """Seconds of each rank. One that sleeps in a phase waits for no message."""
    return run.ranks["mpi"] - run.ranks["quiesced"]


def _waiting_ranks(run: Run, text: str) -> str:
    ranks = run.ranks
    if len(ranks) < 2:
        return text
    share = (_in_mpi(run) / ranks["wall"].where(ranks["wall"] > 0)).fillna(0.0)
    most, worth_a_line = float(share.max()), run.thresholds["mpi_share"]
    if most < worth_a_line:
        return f"{text} No rank spent more than {percent(worth_a_line)} of its time in MPI."
    waiting = share[share >= max(worth_a_line, most / 2)]
    least = float(waiting.min())
    span = percent(most) if percent(least) == percent(most) else f"{percent(least)} to {percent(most)}"
    names = numbered("rank", [int(rank) for rank in waiting.index])
    whose = "its" if len(waiting) == 1 else "their"
    return f"{text} {_upper(names)} spent {span} of {whose} time in MPI{_for_whom(run, waiting)}."


def _for_whom(run: Run, waiting: pd.Series[Any]) -> str:
    limits = run.thresholds
    waits = run.waits[run.waits["rank"].isin(waiting.index)]
    in_mpi = float(_in_mpi(run)[waiting.index].sum())
    known = float(waits["seconds"].sum())
    if known <= 0 or known < limits["known_wait_share"] * in_mpi:
        return ""
    causes = waits.groupby("waited_for")["seconds"].sum().sort_values(ascending=False)
    main: list[int] = []
    explained = 0.0
    for cause, seconds in list(causes.items())[: int(limits["critical_ranks"])]:
        if explained >= limits["critical_wait_share"] * known:
            break
        explained += float(seconds)
        main.append(int(str(cause)))
    if explained < limits["known_wait_share"] * known:
        return ", waiting for many different ranks"
    critical = sorted(main)
    whom = "each other" if len(main) > 1 and critical == sorted(waiting.index) else numbered("rank", critical)
    return f", {percent(min(explained / in_mpi, 1.0))} of it waiting for {whom}"


def _moved(run: Run, moves: pd.DataFrame) -> str:
    sentences = [_cores_moved(run, moves) if len(moves) else _stayed(run)]
    if yielded := _yielded(run):
        sentences.append(yielded)
    lent, borrowed = float(run.ranks["lent"].sum()), float(run.ranks["borrowed"].sum())
    printed = run.thresholds["printed_core_time"]
    if lent >= printed:
        used = (
            f"{core_time(min(lent, borrowed))} of that were used by other ranks"
            if borrowed >= printed
            else f"less than {printed:g} core s of that were used by other ranks"
            if borrowed > 0
            else "no rank used them"
        )
        called = float(run.ranks["lent_by_call"].sum())
        where = " or for a GPU" if run.ranks["gpu"].sum() > 0 else ""
        sentences.append(
            f"Ranks lent {core_time(lent)}, {core_time(called)} of it by calls of the program; {used}."
            if called >= printed
            else f"Ranks that waited in MPI{where} lent {core_time(lent)}; {used}."
        )
    taken = run.loops[run.loops["strategy"] != "runtime"]
    time = float(taken["time"].sum())
    share = float((taken["time"] * taken["stolen"]).sum()) / time if time > 0 else 0.0
    if share > run.thresholds["stolen_share"]:
        sentences.append(
            f"{percent(share, 1)} of the iterations of {plural(len(taken), 'loop')} moved between threads."
        )
    if len(run.tasks):
        tasks = run.tasks.sum()
        sentences.append(
            f"Of {number(tasks['executed'])} tasks, {number(tasks['stolen_local'])} were taken by other threads of the "
            f"same node and {number(tasks['stolen_remote'])} by other nodes."
        )
    return " ".join(sentences)


def _yielded(run: Run) -> str:
    """How waiting threads shared the cores of an oversubscribed node: as on the terminal
    (src/observe/contention.cpp)."""
    options = run.record["options"]
    crowded = [node["index"] for node in run.record["nodes"] if node.get("oversubscribed")]
    if not crowded or options.get("observe") == "on" or options.get("wait") != "sleep":
        return ""
    there = run.ranks[run.ranks["node"].isin(crowded)]
    waited = bool((there["mpi"] >= run.thresholds["mpi_share"] * there["wall"]).any())
    idle = options.get("blocktime") == "0"
    if not waited and not idle:
        return ""
    ranks = "Ranks that waited in MPI, and idle threads," if idle else "Ranks that waited in MPI"
    return f"{ranks if waited else 'Idle threads'} left their cores to threads that had none."


def _cores_moved(run: Run, moves: pd.DataFrame) -> str:
    nodes = sorted(set(moves["node"]))
    times = f"once, at {duration(moves['time'].iloc[0])}"
    if len(moves) > 1:
        times = f"{len(moves)} times, from {duration(moves['time'].min())} to {duration(moves['time'].max())}"
    stayed = moves.assign(gain=moves["forecast_gain"].where(moves["outcome"] != "undone", 0.0))
    main = stayed.groupby("node")["gain"].max().idxmax()  # the node with the largest forecast of a move that was kept
    ranks = run.ranks[run.ranks["node"] == main]
    before, after = list(ranks["threads_at_start"]), list(ranks["threads_at_end"])
    change = f"{counts(before)} → {counts(after)}" if before != after else f"are back at {counts(before)}"
    where = f" on {len(nodes)} of {len(run.nodes)} nodes" if len(run.nodes) > 1 else ""
    which = f" on node {main}" if len(run.nodes) > 1 else ""
    undone = int((moves["outcome"] == "undone").sum())
    back = f" {plural(undone, 'move')} did not help and {'was' if undone == 1 else 'were'} reverted." if undone else ""
    return f"Cores moved {times}{where}. Threads{which}: {change}.{back}"


def _stayed(run: Run) -> str:
    reasons: dict[str, list[int]] = defaultdict(list)
    for index, node in run.nodes.iterrows():
        alone = _ONE_RANK if node["ranks"] == 1 else "no reason was recorded"
        reasons[node["nothing_moved"] or alone].append(int(str(index)))
    if not reasons:
        return "No cores moved."
    main, others = max(reasons.items(), key=lambda item: len(item[1])), len(reasons) - 1
    where = f" on {numbered('node', main[1])}" if len(run.nodes) > 1 else ""
    more = f" ({plural(others, 'other reason')}: see the nodes)" if others else ""
    return f"No cores moved{where}: {main[0]}{more}."


def _gain_of_lending(run: Run) -> str:
    """By the rank on which it had the largest effect, as on the terminal (src/observe/lending.cpp)."""
    ranks = run.ranks
    row = int((ranks["borrowing_own"] - ranks["borrowing_wall"]).abs().argmax())
    own, borrowing = (float(ranks[name].iloc[row]) for name in ("borrowing_own", "borrowing_wall"))
    if own == 0:
        return "What lending gained is not known: to measure it, compare with a run with --lending=off."
    share = (own - borrowing) / (float(run.record["wall"]) + own - borrowing)
    less = f"about {percent(share)}" if share >= 0.01 else "under 1 %"
    how_much = f"{less} less time" if borrowing < own else "no gain"
    return (
        f"Lending: {how_much}, estimated. With borrowed cores, regions of rank {ranks.index[row]} took"
        f" {duration(borrowing)} instead of {duration(own)}."
    )


def _helped(run: Run, moves: pd.DataFrame) -> str:
    if not len(moves):
        if cores_were_borrowed(run):
            return _gain_of_lending(run)
        return "There was no move whose effect could be measured."
    if set(moves["outcome"]) == {"undone"}:
        last = moves.iloc[-1]
        if last["measured_low"] == 0 and last["measured_high"] == 0:
            return "The moves were reverted before they could be measured, as the loads had changed again."
        measured = band(last["measured_gain"], last["measured_low"], last["measured_high"], run.confidence)
        forecast = percent(last["forecast_gain"], 1)
        return f"No: the last move gained {measured}; {forecast} was forecast, so the move was reverted."
    found = gains(run)
    if not found:
        return "Not known: no equal steps before and after the moves could be compared."
    return _gain_in_words(found, run.confidence)


def _gain_in_words(found: list[Gain], confidence: float) -> str:
    best, worst = found[-1], found[0]
    if len(found) > 1:
        clear = sum(gain.significant and gain.value > 0 for gain in found)
        return (
            f"On {clear} of {len(found)} nodes a step became significantly shorter: {best.words(confidence)} "
            f"time on node {best.node}, the largest gain; "
            f"{band(worst.value, worst.low, worst.high, confidence)} on node {worst.node}, the smallest."
        )
    lengths = f"a step takes {duration(best.after)} instead of {duration(best.before)}"
    amount = f"{best.words(confidence)} time"
    if not best.significant:
        return f"No statistically significant change: {lengths}, {amount}."
    return f"{'Yes' if best.value > 0 else 'No'}: {lengths}, {amount}."


def _notes(run: Run) -> list[str]:
    notes = [*filter(None, [disturbance(run)]), *run.record["remarks"]]
    for reason, fixed in run.ranks[run.ranks["fixed_reason"] != ""].groupby("fixed_reason"):
        ranks = [int(rank) for rank in fixed.index]
        if not _is_remarked(run, ranks, str(reason)):
            notes.append(f"{numbered('rank', ranks)}: {reason}")
    return notes


def _is_remarked(run: Run, ranks: list[int], reason: str) -> bool:
    """True if a remark of the record says that these ranks keep their thread count for this reason.

    The sentences are those of fixed_remark(), remark_of() and kept_remark() in src/observe/fixed_threads.cpp.
    """
    of_ranks = f"{reason}: its thread count was not changed"
    if len(ranks) < len(run.ranks):
        of_ranks = f"{numbered('rank', ranks).replace('–', '-').replace('…', '...')}: {of_ranks}"
    of_regions = f"{reason} ("  # then their number and their time, of all ranks together
    return any(remark == of_ranks or remark.startswith(of_regions) for remark in run.record["remarks"])


def disturbance(run: Run) -> Optional[str]:
    """A note if other programs used the cores, as on the terminal (src/observe/contention.cpp)."""
    ranks, wall, limits = run.ranks, float(run.record["wall"]), run.thresholds
    if run.record["instrument"] != "real" or wall < limits["judged_wall"]:
        return None
    # A rank that waits polls on a core that it has lent, and that another rank uses.
    lent = ranks["lent"].clip(upper=ranks["borrowed"].sum()) / ranks["threads_at_start"].clip(lower=1)
    shares = (ranks["run_delay"] - lent).clip(lower=0) / ranks["wall"]
    lends = float(ranks["borrowed"].sum()) > limits["borrowed_cores"] * wall
    if not shares.max() > limits["run_delay_lending" if lends else "run_delay"]:  # or not known
        return None
    row = int(np.nanargmax(shares))
    worst, index = int(ranks.index[row]), int(ranks["node"].iloc[row])
    found = f"A thread of rank {worst} was ready to run but had no core for {percent(shares.max())} of the time"
    here = ranks[ranks["node"] == index]
    used = here["threads_used"].where(here["threads_used"] > 0, here["threads_at_start"])
    cores, threads = int(run.nodes["cores"].loc[index]), int(used.sum())
    if threads > cores:
        if run.nodes["oversubscribed"].loc[index]:
            return f"{found}: more {run.nodes['oversubscribed'].loc[index]} than cores."
        return f"{found}: node {index} has {threads} threads for {plural(cores, 'core')}. Start fewer ranks or threads."
    throttled = float(here["throttled"].max())
    if throttled / max(1, min(cores, threads)) > float(ranks["run_delay"].iloc[row]) / 4:
        return (
            f"{found}: the CPU quota of the container or batch job (cgroup) throttled node {index} for {throttled:.3g}"
            " core s. Start fewer ranks or threads, or request a larger CPU quota."
        )
    if here["cpu"].sum() > (1 - limits["run_delay"]) * cores * wall:
        return f"{found}: the ranks of node {index} used all of its cores themselves. Start fewer ranks or threads."
    return f"{found}: other programs ran there. Measure again without them."


def instrument(run: Run) -> Optional[str]:
    """How the times were measured, unless on real cores."""
    if run.record["instrument"] == "emulated" or run.nodes["emulated"].any():
        return "Emulated: threads sleep instead of computing. Times show how waits change, not how fast cores are."
    if run.record["instrument"] == "simulated":
        return "Simulated: times come from a model, not from a machine."
    return None


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]

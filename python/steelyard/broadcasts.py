# SPDX-License-Identifier: BSD-3-Clause
"""Sections about broadcasts and scatters: late ranks, and the broadcast trees between nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional

import pandas as pd

from .charts import Bar, bars
from .record import Run
from .section import ROWS, Pictures, Section
from .tree_chart import MOST, charts, is_whole, shades
from .trees import Tree, answer, of_interest, told, trees
from .words import duration, number, percent, plural


def broadcasts(run: Run) -> Optional[Section]:
    return _delivered(run, run.collectives, "broadcast")


def scatters(run: Run) -> Optional[Section]:
    return _delivered(run, run.scatters, "scatter")


def _delivered(run: Run, frame: pd.DataFrame, name: str) -> Optional[Section]:
    if not len(frame):
        return None
    names, title = f"{name}s", f"Which ranks were late to {name}s?"
    sums = frame.sum()
    taken = sums["shared"] + sums["tree"] + sums["library"]
    words = []
    if taken > 0:
        ways = (
            ("shared", "went through shared memory alone"),
            ("tree", "went along the tree between nodes"),
            ("library", "were handled by the MPI library"),
        )
        parts = [f"{percent(sums[way] / taken)} {how}" for way, how in ways if sums[way] > 0]
        words.append(f"Of {number(taken)} calls of all ranks, {', '.join(parts)}.")
    if sums["shared"] + sums["tree"] > 0:
        words.append(won(frame, name, run.record["options"].get("collectives", "")))
    late = frame[frame["late"] > 0].sort_values("behind", ascending=False)
    if not len(late):
        words.append("No rank arrived after the data.")
        return Section(names, title, words)
    rows = [
        Bar(
            f"rank {rank}",
            [("mpi", float(row["behind"] / row["late"]))],
            f"{number(row['late'])} of {number(row['calls'])} times",
        )
        for rank, row in late.head(ROWS).iterrows()
    ]
    caption = (
        f"Mean time from the arrival of the data to the arrival of the rank, over the {names} to which the rank was"
        " late."
    )
    if len(late) > ROWS:
        caption += f" {ROWS} of {len(late)} late ranks are shown."
    return Section(names, title, words, svg=bars(rows, duration), caption=caption)


def won(frame: pd.DataFrame, name: str, option: str) -> str:
    """Compares waits in operations through shared memory with waits in the MPI library's."""
    shared, library = mean_wait(frame, "shared"), mean_wait(frame, "library")
    if shared is None or library is None:
        if option == "auto":
            return "The gain is not known: too few of them were compared."
        return "The gain is not known: only --collectives=auto compares."

    def interval(wait: Wait) -> str:
        return f"{duration(wait.mean)} ({duration(max(0.0, wait.low))} to {duration(wait.high)})"

    waits = (
        f"After both the root and the rank had arrived, a rank waited {interval(shared)} in a {name} through shared"
        f" memory, and {interval(library)} in a {name} of the MPI library (with confidence intervals)"
    )
    margin = math.hypot(shared.high - shared.mean, library.mean - library.low)
    significant = library.mean - shared.mean > margin
    return f"{waits}." if significant else f"{waits}: no statistically significant difference."


@dataclass(frozen=True)
class Wait:
    """A mean wait, with the bounds of its confidence interval."""

    mean: float
    low: float
    high: float


def mean_wait(frame: pd.DataFrame, way: str) -> Optional[Wait]:
    """Mean over all ranks, weighted by their measurements. The ranks' errors are independent: the squares of their
    distances to a bound add up."""
    looks = frame[f"{way}_looks"]
    if not looks.sum() > 0:
        return None
    share, wait = looks / looks.sum(), frame[f"{way}_wait"]
    mean = float((share * wait).sum())

    def distance(bound: pd.Series[float]) -> float:
        return float(((share * (bound - wait)) ** 2).sum() ** 0.5)

    return Wait(mean, mean - distance(frame[f"{way}_low"]), mean + distance(frame[f"{way}_high"]))


def broadcast_trees(run: Run) -> Optional[Section]:
    found = trees(run)
    if not found:
        return None
    limits = run.thresholds
    shown = of_interest(found)[: int(limits["described_trees"])]
    sentences = [f"{_upper(sentence)}." for sentence in told(found, limits)]
    lateness = [by for tree in shown for by in tree.late.values()]
    pictures = [
        Pictures(_said(tree, sentence), _parts(tree, max(lateness, default=0.0)))
        for tree, sentence in zip(shown, sentences)
    ]
    caption = (
        "Each shape is a node, labelled with the rank that leads it. A node receives the data from the node above it,"
        " which sends to its leftmost child first. A rank is late if it arrived more than 50 µs after the data in at"
        f" least {percent(limits['late_share'])} of the broadcasts that Steelyard took over. The colour shows its mean"
        " lateness in these. A rank is delayed if it receives the data through a rank that is more than"
        f" {number(limits['late_ratio'])} times as late. Point at a rank to see the path of its data."
    )
    if not all(map(is_whole, shown)):
        caption += (
            f" Of a large tree, at most {MOST} late ranks are drawn (those with most ranks below them), and the ranks"
            " that took their positions. +n: n more ranks below; via n: n ranks in between."
        )
    legend = shades(lateness) if shown else []
    if any(tree.changed for tree in shown):
        legend.append(("moved", "sends the data to more or fewer ranks than in the other picture"))
    return Section(
        "trees",
        "Did the late ranks become leaves?",
        [] if shown else sentences,
        legend,
        pictures=pictures,
        caption=" ".join([*sentences[len(shown) :], caption]) if shown else "",
    )


def _said(tree: Tree, sentence: str) -> str:
    found = answer(tree)
    return f"{found}. {sentence}" if found else sentence


def _parts(tree: Tree, most: float) -> list[tuple[str, str]]:
    first, last = charts(tree, most)
    return [("At first", first), ("At last", last)] if tree.changed else [("At first and at last", first)]


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]

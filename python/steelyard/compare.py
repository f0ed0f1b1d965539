"""Two runs side by side: what differs beyond noise, and what does not.

The noise band of a share is found in the run itself. Its part after the last move is cut into windows; the spread of their means
gives the band (95 %), widened where neighbouring windows are alike. That of a phase is in the record. What varies from one run
to the next, such as which nodes a job gets, is in no single record: bands are lower bounds for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Callable, Optional

import numpy as np
import numpy.typing as npt

from .record import Run
from .words import duration, percent

WINDOWS, FEWEST = 20, 4
CONFIDENCE = 0.95
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Value:
    """A mean with the half width of its noise band; None where one run does not tell it."""

    mean: float
    noise: Optional[float] = None


@dataclass(frozen=True)
class Difference:
    """One quantity of both runs. `relative`: the difference is told as a fraction of a."""

    name: str
    a: Value
    b: Value
    write: Callable[[float], str]
    relative: bool = False

    @property
    def change(self) -> float:
        change = self.b.mean - self.a.mean
        return change / self.a.mean if self.relative and self.a.mean > 0 else change

    @property
    def noise(self) -> Optional[float]:
        """Half width of the band of `change`."""
        if self.a.noise is None or self.b.noise is None:
            return None
        if self.relative and self.a.mean > 0 and self.b.mean > 0:
            return self.b.mean / self.a.mean * math.hypot(self.a.noise / self.a.mean, self.b.noise / self.b.mean)
        return math.hypot(self.a.noise, self.b.noise)

    @property
    def verdict(self) -> str:
        noise = self.noise
        if noise is None:
            return "no band from one run each"
        if abs(self.change) <= noise:
            return "within noise"
        return "less" if self.change < 0 else "more"

    def row(self) -> list[str]:
        """Name, a, b, change and verdict in words."""
        noise = self.noise
        unit = "%" if self.relative else "points"
        change = f"{100 * self.change:+.1f}" + (f" ± {100 * noise:.1f}" if noise is not None else "") + f" {unit}"
        return [self.name, self._value(self.a), self._value(self.b), change, self.verdict]

    def _value(self, value: Value) -> str:
        return self.write(value.mean) + (f" ± {self.write(value.noise)}" if value.noise is not None else "")


@dataclass(frozen=True)
class Comparison:
    """`headline` in one sentence; `warnings` where the runs are not of a kind; what was measured; and the ranks that differ."""

    headline: str
    warnings: list[str]
    settled: list[Difference]
    whole: list[Difference]
    ranks: list[Difference]
    ranks_alike: int


def compare(a: Run, b: Run) -> Comparison:
    """From a to b."""
    wa, wb = _Windows(a), _Windows(b)
    settled = [Difference("length of a phase", _phase(a), _phase(b), duration, relative=True)]
    settled += [
        Difference(name, wa.share(kind), wb.share(kind), lambda value: percent(value, 1))
        for name, kind in (("computing", "useful"), ("waiting in OpenMP", "omp"), ("waiting in MPI", "mpi"))
    ]
    settled = [difference for difference in settled if not math.isnan(difference.a.mean + difference.b.mean)]
    whole = [Difference("wall time", Value(a.record["wall"]), Value(b.record["wall"]), duration, relative=True)]
    whole += [
        Difference(name, Value(float(a.metrics[member])), Value(float(b.metrics[member])), lambda value: percent(value, 1))
        for name, member in (("parallel efficiency", "parallel"), ("MPI efficiency", "mpi"), ("balance of ranks", "load_balance"),
                             ("communication", "communication"), ("OpenMP efficiency", "openmp"))
    ]
    ranks = wa.by_rank(wb)
    differ = sorted((d for d in ranks if d.verdict in ("less", "more")), key=lambda d: -abs(d.change))
    return Comparison(_headline(settled), _warnings(a, b), settled, whole, differ, len(ranks) - len(differ))


def _phase(run: Run) -> Value:
    """Of the nodes' mean phases after their last moves, or of all where nothing moved."""
    means, noises = [], []
    for _, node in run.nodes.iterrows():
        name = "phase_after" if node["phase_after"] > 0 else "phase_before"
        if node[name] > 0:
            means.append(float(node[name]))
            noises.append(float(node[f"{name}_noise"]))
    if not means:
        return Value(math.nan)
    return Value(sum(means) / len(means), max(noises))  # nodes wait for each other: their noise is one and the same


class _Windows:
    """Shares of computing and waiting in equal stretches of the settled part of a run: of all ranks, and of each."""

    def __init__(self, run: Run) -> None:
        taken = run.decisions[run.decisions["outcome"] != "declined"]
        begin = float(taken["time"].max()) if len(taken) else 0.0
        end = max((float(samples.end[-1]) for _, samples in run.samples() if len(samples)), default=0.0)
        fewest = min((int((samples.start >= begin).sum()) for _, samples in run.samples() if len(samples)), default=0)
        self.count = min(WINDOWS, fewest // 2)
        edges = np.linspace(begin, end, max(1, self.count) + 1)
        self.ranks: dict[int, dict[str, Floats]] = {}
        for rank, samples in run.samples():
            late = samples.start >= begin
            window = np.clip(np.searchsorted(edges, (samples.start + samples.end)[late] / 2) - 1, 0, max(1, self.count) - 1)
            weight = ((samples.end - samples.start) * np.maximum(1, samples.threads))[late]
            parts = {"omp": samples.omp_share[late], "mpi": samples.mpi_share[late]}
            sums: dict[str, Floats] = {name: np.bincount(window, weight * part, max(1, self.count)) for name, part in parts.items()}
            sums["all"] = np.bincount(window, weight, max(1, self.count))
            sums["useful"] = sums["all"] - sums["omp"] - sums["mpi"]
            self.ranks[rank] = sums

    def share(self, kind: str) -> Value:
        if not self.ranks:
            return Value(math.nan)
        part, whole = (np.sum([sums[name] for sums in self.ranks.values()], axis=0) for name in (kind, "all"))
        return self._value(part, whole, CONFIDENCE)

    def waits(self, rank: int, confidence: float) -> Value:
        """The share of a rank that it waited in MPI."""
        return self._value(self.ranks[rank]["mpi"], self.ranks[rank]["all"], confidence)

    def by_rank(self, other: _Windows) -> list[Difference]:
        """MPI waits of the ranks that both runs have; with so many comparisons, each has to be the surer."""
        both = [rank for rank in self.ranks if rank in other.ranks]
        confidence = CONFIDENCE ** (1 / max(1, len(both)))
        found = [
            Difference(f"rank {rank}", self.waits(rank, confidence), other.waits(rank, confidence), lambda value: percent(value, 1))
            for rank in both
        ]
        return [difference for difference in found if not math.isnan(difference.a.mean + difference.b.mean)]

    def _value(self, part: Floats, whole: Floats, confidence: float) -> Value:
        if not whole.sum() > 0:
            return Value(math.nan)
        mean = float(part.sum() / whole.sum())
        if self.count < FEWEST or (whole <= 0).any():
            return Value(mean)
        return Value(mean, band_of(part / whole, confidence))


def band_of(means: Floats, confidence: float = CONFIDENCE) -> float:
    """Half width of the band of the mean of these; neighbours that are alike count for fewer."""
    count = len(means)
    off = means - means.mean()
    spread = float((off * off).sum())
    alike = float((off[1:] * off[:-1]).sum()) / spread if spread > 0 else 0.0
    alike = min(0.9, max(0.0, alike))
    independent = max(2.0, count * (1 - alike) / (1 + alike))
    return student(confidence, independent - 1) * math.sqrt(spread / (count - 1) / independent)


def student(confidence: float, freedom: float) -> float:
    """Two-sided quantile of Student's distribution, by the first terms of its expansion around the normal one."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def _headline(settled: list[Difference]) -> str:
    clear = [difference for difference in settled if difference.verdict in ("less", "more")]
    for difference in clear:
        if difference.relative and difference.noise is not None:
            amount = f"{percent(abs(difference.change), 1)} ± {percent(difference.noise, 1)}"
            return f"A phase takes {amount} {difference.verdict} time in the second run."
    if clear:
        names = " and ".join(f"{d.verdict} {d.name}" for d in clear)
        return f"The second run has {names}; phases do not differ beyond noise."
    if all(difference.noise is None for difference in settled):
        return "The records do not tell whether the runs differ: they hold too few phases for a noise band."
    return "Nothing differs beyond noise."


def _warnings(a: Run, b: Run) -> list[str]:
    found = []
    for name, what in (("command", "commands"), ("instrument", "instruments"), ("mpi", "MPI libraries"), ("openmp", "OpenMP runtimes"),
                       ("version", "versions of Steelyard")):
        one, other = (" ".join(run.record[name]) if name == "command" else run.record[name] for run in (a, b))
        if one != other:
            found.append(f"different {what}: {one or 'none'} and {other or 'none'}")
    if len(a.ranks) != len(b.ranks):
        found.append(f"different numbers of ranks: {len(a.ranks)} and {len(b.ranks)}")
    if list(a.nodes["topology"]) != list(b.nodes["topology"]):
        found.append("different nodes")
    before, after = a.record["options"], b.record["options"]
    told = [f"--{name}={before[name]} and {after[name]}" for name in before
            if name in after and name != "record" and before[name] != after[name]]
    return found + ([f"different options: {', '.join(told)}"] if told else [])


def table(comparison: Comparison, names: tuple[str, str] = ("a", "b")) -> str:
    """As text, for a terminal."""
    lines = [comparison.headline, *(f"  note: {warning}" for warning in comparison.warnings), ""]
    blocks = [("after the last move", comparison.settled), ("whole run", comparison.whole)]
    if comparison.ranks:
        blocks.append(("waiting in MPI", comparison.ranks[:10]))
    rows = [["", *names, "difference", ""]]
    for title, differences in blocks:
        if differences:
            rows += [[title, "", "", "", ""], *([f"  {row[0]}", *row[1:]] for row in (d.row() for d in differences))]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:4], widths[1:])), row[4]]
        lines.append("  ".join(cells).rstrip())
    lines += ["", *_of_ranks(comparison)]
    return "\n".join(lines).rstrip() + "\n"


def _of_ranks(comparison: Comparison) -> list[str]:
    more = len(comparison.ranks) - 10
    said = [f"{more} more ranks wait longer or shorter in MPI."] if more > 0 else []
    if comparison.ranks_alike and (comparison.ranks or comparison.ranks_alike > 1):
        said.append(f"{comparison.ranks_alike} {'other ranks do' if comparison.ranks else 'ranks do'} not differ beyond noise.")
    return said

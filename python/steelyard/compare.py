# SPDX-License-Identifier: BSD-3-Clause
"""Compares two runs: which differences are statistically significant.

The confidence interval of a share is estimated from the runs themselves. The part of each run after its last move is
cut into the same number of windows. The spread of the differences between corresponding windows gives the interval; it
is widened if neighbouring windows are correlated. Its level is the runs' --confidence, the lower one if they differ. A
trend that both runs share, such as a slowdown, therefore does not count as uncertainty. The interval of the step time
is in the record. Variation from one run to the next, such as other nodes, is in no single record, so the intervals are
lower bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Callable, Iterator, Optional

import numpy as np
import numpy.typing as npt

from .options import as_set
from .record import Progress, Run
from .samples import Samples
from .shares import measures_threads
from .summary import disturbance
from .words import duration, excludes_zero, level, percent, plural

WINDOWS, FEWEST = 20, 4
Floats = npt.NDArray[np.float64]
Parts = dict[str, Floats]


@dataclass(frozen=True)
class Value:
    """A mean with the half width of its confidence interval; None if one run does not give it."""

    mean: float
    noise: Optional[float] = None


@dataclass(frozen=True)
class Difference:
    """One quantity of both runs. `relative`: the difference is given as a fraction of a. `paired`: half width of the
    confidence interval of the difference, if paired windows give it; otherwise it follows from those of a and b."""

    name: str
    a: Value
    b: Value
    write: Callable[[float], str]
    relative: bool = False
    paired: Optional[float] = None

    @property
    def change(self) -> float:
        change = self.b.mean - self.a.mean
        return change / self.a.mean if self.relative and self.a.mean > 0 else change

    @property
    def noise(self) -> Optional[float]:
        """Half width of the confidence interval of `change`."""
        if self.paired is not None:
            return self.paired
        if self.a.noise is None or self.b.noise is None:
            return None
        if self.relative and self.a.mean > 0 and self.b.mean > 0:
            return self.b.mean / self.a.mean * math.hypot(self.a.noise / self.a.mean, self.b.noise / self.b.mean)
        return math.hypot(self.a.noise, self.b.noise)

    @property
    def result(self) -> str:
        noise = self.noise
        if noise is None:
            return "not tested: one run each"
        if not excludes_zero(self.change - noise, self.change + noise):
            return "not significant"
        return "less" if self.change < 0 else "more"

    def row(self) -> list[str]:
        """Name, a, b, change and result in words."""
        noise = self.noise
        unit = "%" if self.relative else "points"
        change = f"{_signed(100 * self.change)} {unit}"
        if noise is not None:
            change += f" ({_signed(100 * (self.change - noise))} to {_signed(100 * (self.change + noise))})"
        return [self.name, self._value(self.a), self._value(self.b), change, self.result]

    def _value(self, value: Value) -> str:
        if value.noise is None:
            return self.write(value.mean)
        low, high = self.write(value.mean - value.noise), self.write(value.mean + value.noise)
        return f"{self.write(value.mean)} ({low} to {high})"


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}"


@dataclass(frozen=True)
class Comparison:
    """`headline`: the result in one sentence. `warnings`: why the runs may not be comparable. `ranks`: those that
    differ significantly. `confidence`: the level of all intervals. `moved`: a core moved in either run."""

    headline: str
    warnings: list[str]
    settled: list[Difference]
    whole: list[Difference]
    ranks: list[Difference]
    ranks_alike: int
    confidence: float
    moved: bool = True


def compare(a: Run, b: Run, progress: Optional[Progress] = None) -> Comparison:
    """Compares b with a. `progress(done, of)` is called after the samples of each rank."""
    samples = _Watched(3 * (len(a.ranks) + len(b.ranks)), progress)
    windows = min(WINDOWS, *(_samples_after(run, samples) // 2 for run in (a, b)))
    wa, wb = (_shares(run, max(1, windows), samples) for run in (a, b))
    confidence = min(a.confidence, b.confidence)
    settled = [Difference("step time", _phase(a), _phase(b), duration, relative=True)]
    for name, kind in (("computing", "useful"), ("waiting in OpenMP", "omp"), ("waiting in MPI", "mpi")):
        settled.append(_paired(name, kind, _all(wa), _all(wb), confidence))
    settled = [difference for difference in settled if not math.isnan(difference.a.mean + difference.b.mean)]
    whole = [Difference("wall time", Value(a.record["wall"]), Value(b.record["wall"]), duration, relative=True)]
    whole += [
        Difference(
            name, Value(float(a.metrics[member])), Value(float(b.metrics[member])), lambda value: percent(value, 1)
        )
        for name, member in (
            ("parallel efficiency", "parallel"),
            ("MPI efficiency", "mpi"),
            ("MPI load balance", "load_balance"),
            ("communication", "communication"),
            ("OpenMP efficiency", "openmp"),
        )
        if member not in ("parallel", "openmp") or (measures_threads(a) and measures_threads(b))
    ]
    both = sorted(wa.keys() & wb.keys())
    sure = confidence ** (1 / max(1, len(both)))  # Šidák correction for the number of comparisons
    ranks = [_paired(f"rank {rank}", "mpi", wa[rank], wb[rank], sure) for rank in both]
    ranks = [difference for difference in ranks if not math.isnan(difference.a.mean + difference.b.mean)]
    differ = sorted((d for d in ranks if d.result in ("less", "more")), key=lambda d: -abs(d.change))
    moved = any(len(run.moves) > 0 for run in (a, b))
    headline = _headline(settled, whole[0], confidence)
    return Comparison(headline, _warnings(a, b), settled, whole, differ, len(ranks) - len(differ), confidence, moved)


def _phase(run: Run) -> Value:
    """Mean step time of the nodes after their last moves, or of the whole run if nothing moved."""
    means, noises = [], []
    for _, node in run.nodes.iterrows():
        name = "phase_after" if node["phase_after"] > 0 else "phase_before"
        if node[name] > 0:
            means.append(float(node[name]))
            noises.append(float(node[f"{name}_high"] - node[f"{name}_low"]) / 2)
    if not means:
        return Value(math.nan)
    return Value(sum(means) / len(means), max(noises))  # nodes wait for each other, so their deviations are the same


def _last_move(run: Run) -> float:
    taken = run.moves
    return float(taken["time"].max()) if len(taken) else 0.0


class _Watched:
    """Iterates over the samples of runs, and reports the progress after each rank."""

    def __init__(self, of: int, progress: Optional[Progress]) -> None:
        self.done, self.of, self.progress = 0, of, progress

    def __call__(self, run: Run) -> Iterator[tuple[int, Samples]]:
        for rank, samples in run.samples():
            yield rank, samples
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.of)


def _samples_after(run: Run, watched: _Watched) -> int:
    """Number of samples after the last move, of the rank with the fewest."""
    begin = _last_move(run)
    return min((int((samples.start >= begin).sum()) for _, samples in watched(run) if len(samples)), default=0)


def _shares(run: Run, windows: int, watched: _Watched) -> dict[int, Parts]:
    """By rank: core time in equal windows after the last move, in total and by activity; and, of the cores that it
    owned at the start, what shares.py adds up."""
    begin = _last_move(run)
    owned = run.ranks["threads_at_start"].to_dict()
    end = max((float(samples.end[-1]) for _, samples in watched(run) if len(samples)), default=0.0)
    edges = np.linspace(begin, max(begin, end), windows + 1)
    found = {}
    for rank, samples in watched(run):
        late = samples.start >= begin
        window = np.clip(np.searchsorted(edges, (samples.start + samples.end)[late] / 2) - 1, 0, windows - 1)
        length = (samples.end - samples.start)[late]
        weight = length * np.maximum(1, samples.threads)[late]
        cores = length * owned[rank]
        columns = {
            "all": weight,
            "mpi": weight * samples.mpi_share[late],
            "cores": cores,
            "useful": samples.useful[late],
            "omp": samples.omp_wait[late],
            "gpu": cores * samples.gpu_wait_share[late],
        }
        found[rank] = {
            name: np.bincount(window, column, windows).astype(np.float64) for name, column in columns.items()
        }
    return found


def _all(ranks: dict[int, Parts]) -> Parts:
    """Each core once, as in shares.py: what is neither computing nor lost outside of MPI is lost in MPI."""
    names = ("cores", "useful", "omp", "gpu")
    total = {name: np.sum([parts[name] for parts in ranks.values()], axis=0) for name in names}
    outside_mpi = total["useful"] + total["omp"] + total["gpu"]
    whole = np.maximum(total["cores"], outside_mpi)
    return total | {"all": whole, "mpi": whole - outside_mpi}


def _paired(name: str, kind: str, a: Parts, b: Parts, confidence: float) -> Difference:
    """The difference of the shares of one activity, by paired windows."""
    means = [
        Value(float(parts[kind].sum() / parts["all"].sum()) if parts["all"].sum() > 0 else math.nan) for parts in (a, b)
    ]
    band = None
    if np.size(a["all"]) >= FEWEST and (a["all"] > 0).all() and (b["all"] > 0).all():
        band = band_of(b[kind] / b["all"] - a[kind] / a["all"], confidence)
    return Difference(name, means[0], means[1], lambda value: percent(value, 1), paired=band)


def band_of(means: Floats, confidence: float) -> float:
    """Half width of the confidence interval of the mean. Correlated neighbours reduce the number of independent
    values."""
    count = len(means)
    off = means - means.mean()
    spread = float((off * off).sum())
    alike = float((off[1:] * off[:-1]).sum()) / spread if spread > 0 else 0.0
    alike = min(0.9, max(0.0, alike))
    independent = max(2.0, count * (1 - alike) / (1 + alike))
    return student(confidence, count - 1) * math.sqrt(spread / (count - 1) / independent)


def student(confidence: float, freedom: float) -> float:
    """Two-sided quantile of Student's distribution, by the first terms of its expansion around the normal one."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def _headline(settled: list[Difference], wall: Difference, confidence: float) -> str:
    clear = [difference for difference in settled if difference.result in ("less", "more")]
    for difference in clear:
        if difference.relative and difference.noise is not None:
            size, noise = abs(difference.change), difference.noise
            bounds = f"{level(confidence)} {percent(size - noise, 1)} to {percent(size + noise, 1)}"
            return f"A step takes {percent(size, 1)} {difference.result} time in the second run ({bounds})."
    if clear:
        names = [f"{d.result} {d.name}" for d in clear]
        listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        known = any(difference.relative for difference in settled)
        if known:
            return f"The second run has {listed}; step times do not differ significantly."
        return f"The second run has {listed}. {_wall_in_words(wall)}"
    if all(difference.noise is None for difference in settled):
        return "The records do not show whether the runs differ: they have too few samples for confidence intervals."
    if not any(difference.relative for difference in settled):
        return f"No statistically significant difference in the shares of time. {_wall_in_words(wall)}"
    return "No statistically significant difference."


def _wall_in_words(wall: Difference) -> str:
    """Where there are no step times: the runs themselves, of which there is one each."""
    change = percent(abs(wall.change), 1)
    if change == percent(0, 1):
        return "Both took the same wall time (one run each)."
    return f"The second took {change} {'less' if wall.change < 0 else 'more'} wall time (one run each)."


def _warnings(a: Run, b: Run) -> list[str]:
    found = []
    for name, what in (
        ("command", "commands"),
        ("instrument", "measurement modes"),
        ("mpi", "MPI libraries"),
        ("openmp", "OpenMP runtimes"),
        ("version", "versions of Steelyard"),
    ):
        one, other = (" ".join(run.record[name]) if name == "command" else run.record[name] for run in (a, b))
        if one != other:
            found.append(f"different {what}: {one or 'none'} and {other or 'none'}")
    if len(a.ranks) != len(b.ranks):
        found.append(f"different numbers of ranks: {len(a.ranks)} and {len(b.ranks)}")
    if list(a.nodes["topology"]) != list(b.nodes["topology"]):
        found.append("different nodes")
    before, after = as_set(a.record["options"]), as_set(b.record["options"])
    told = [
        f"--{name}={before[name]} and {after[name]}"
        for name in before
        if name in after and name != "record" and before[name] != after[name]
        and not (name == "blocktime" and _is_default_spin(a, b))
    ]
    if told:
        found.append(f"different options: {', '.join(told)}")
    for run, which in ((a, "first"), (b, "second")):
        if disturbed := disturbance(run):
            found.append(f"the {which} run was disturbed: {disturbed[0].lower()}{disturbed[1:].rstrip('.')}")
        if len(run.nodes) and math.isnan(_phase(run).mean):
            why = ", as it only observed" if run.record["options"].get("observe") == "on" else ""
            found.append(f"the {which} run has no step time{why}")
    return found


def _is_default_spin(a: Run, b: Run) -> bool:
    """Whether --blocktime is no different option: the values in use are equal, or an older record does not say that the
    user set them, and Steelyard probably chose them."""
    one, other = (run.record["options"] for run in (a, b))
    if one["blocktime"] == other["blocktime"]:
        return True
    told = "blocktime-auto" in one and "blocktime-auto" in other
    return not told and (_is_likely_default(a, b) or _is_likely_default(b, a))


def _is_likely_default(observed: Run, balanced: Run) -> bool:
    """Whether the --blocktime of these runs differs only because `auto` stands for another value if no core may move.

    A record has the value in use. The user may have given that of `balanced`; then it is the default's all the same."""
    settings = observed.record["options"]
    if settings["blocktime"] != "auto" or not (settings.get("observe") == "on" or settings.get("cores") == "off"):
        return False
    crowded = balanced.ranks["threads_at_start"].sum() > balanced.nodes["cores"].sum()
    return balanced.record["options"]["blocktime"] in (("0", "100") if crowded else ("100",))


def table(comparison: Comparison, names: tuple[str, str] = ("a", "b")) -> str:
    """The comparison as text, for a terminal."""
    lines = [comparison.headline, *(f"  note: {warning}" for warning in comparison.warnings), ""]
    settled = "after the last move" if comparison.moved else "steps (no core moved)"
    blocks = [(settled, comparison.settled), ("whole run", comparison.whole)]
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
    said = (
        [f"{plural(more, 'more rank')} {'waits' if more == 1 else 'wait'} longer or shorter in MPI."]
        if more > 0
        else []
    )
    if comparison.ranks_alike and (comparison.ranks or comparison.ranks_alike > 1):
        said.append(
            f"{plural(comparison.ranks_alike, 'other rank' if comparison.ranks else 'rank')} "
            f"{'does' if comparison.ranks_alike == 1 else 'do'} not differ significantly."
        )
    return said

# SPDX-License-Identifier: BSD-3-Clause
"""Reading and checking run records."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Union

import numpy as np
import pandas as pd

from .check import examine, schema
from .older import to_current
from .options import current
from .parse import parse
from .samples import RARE, Packed, Samples, unpack
from .words import duration, plural

PathLike = Union[str, "os.PathLike[str]"]
Progress = Callable[[int, int], None]

_COUNTS = ("regions", "virtual_regions", "mpi_calls", "gpu_waits", "omp_tasks")  # in totals_ns, and not times
_LATER = ("lent_by_call", "came_late", "borrowing_wall", "borrowing_own", "quiesced", "gpu", "gpu_capacity",
          "mpi_overlapped", "beyond_owned")
_LATER_COUNTS = ("virtual_regions", "gpu_waits", "omp_tasks")
"""Totals that records leave out where they are 0."""
_RENAMED = {  # members of `tasks` in records of earlier versions
    "stolen_here": "stolen_local",
    "stolen_far": "stolen_remote",
    "busy": "busy_seconds",
    "inside": "run_seconds",
}
# members of a rank that have tables of their own
_NOT_FLAT = ("totals_ns", "waited_for", "timeline", "broadcasts", "scatters")
_DTYPES = {"integer": "int64", "number": "float64", "boolean": "bool"}


# what to do about a file that is not read
_NO_RECORD = "name a file that `steelyard run` wrote, or repeat the run"
_OTHER_VERSION = "read it with the version of Steelyard that wrote it"


class InvalidRecord(ValueError):
    """A file that is not a run record. `problems` lists what is wrong and where."""

    def __init__(self, path: PathLike, problems: list[str], advice: str = _NO_RECORD):
        self.problems = problems
        more = [f"... and {len(problems) - 10} more"] if len(problems) > 10 else []
        super().__init__("\n  ".join([f"cannot read the run record {os.fspath(path)}:", *problems[:10], *more, advice]))


@dataclass(frozen=True)
class Run:
    """One run of a program. All times in the frames are in seconds since MPI_Init, or seconds long; gains are
    fractions.

    The columns carry the names that the members have in the file; ``schema()`` describes each of them.
    """

    record: dict[str, Any]
    """The content of the file. Options of older files have their current names."""

    def __repr__(self) -> str:
        """One line, since a record may have megabytes."""
        nodes, ranks = len(self.record["nodes"]), len(self.record["ranks"])
        command = " ".join(self.record["command"])
        return (
            f"<Run of {command}: {plural(ranks, 'rank')} on {plural(nodes, 'node')}, {duration(self.record['wall'])}>"
        )

    _timelines: list[Union[Samples, Packed]] = field(default_factory=list, repr=False)

    def samples(self) -> Iterator[tuple[int, Samples]]:
        """Iterates over the ranks with their timelines in columns (see `Samples`), for records whose timelines together
        are too large for one data frame."""
        for index, rank in enumerate(self.record["ranks"]):
            known = self._timelines[index] if self._timelines else unpack(rank["timeline"])
            yield rank["rank"], known.unpack() if isinstance(known, Packed) else known

    @functools.cached_property
    def ranks(self) -> pd.DataFrame:
        """One row per rank, indexed by rank.

        Columns: node, pid, openmp, threads_at_start, threads_at_end, thread_ceiling, fixed_reason, the rank's totals,
        cpu (CPU time of all threads, s), run_delay (s that the thread with most of it was ready to run while other
        threads had its core), throttled (core s for which a CPU quota stopped its cgroup), threads_used (threads of its
        largest team, where fewer than threads_at_start, else 0) and paused (by the program, s, in no other figure).
        cpu and throttled are 0 and run_delay NaN if they are not known.

        Totals in wall time: wall, serial, mpi, region_wall. Totals in thread time: region_useful, omp_imbalance,
        omp_scheduling, omp_serialisation, mpi_capacity, capacity, lent, borrowed. Parts: lent_by_call (of lent, by
        steelyard_cores_lend()), came_late (of borrowed, on cores that joined a running region), borrowing_wall (of
        region_wall, with more threads than owned cores; borrowing_own: the same regions without), quiesced (of mpi,
        asleep in phases), mpi_overlapped (of mpi, while other threads ran regions), beyond_owned (of capacity, threads
        of nested regions and of other threads beyond the owned cores). Counts: regions, virtual_regions
        (those with virtual threads), mpi_calls, gpu_waits (calls that waited for an accelerator), omp_tasks (explicit
        tasks of OpenMP).

        Waits for accelerators: gpu (wall time; in regions, the mean of the team) and gpu_capacity (thread time).

        Derived: busy (wall time outside MPI, or with regions of other threads) and useful (thread time of computing).
        """
        columns = {k: v for k, v in _properties("rank").items() if k not in _NOT_FLAT} | _totals_columns()
        rows = [
            {"cpu": 0.0, "run_delay": float("nan"), "paused": 0.0, "throttled": 0.0, "threads_used": 0}
            | {k: v for k, v in rank.items() if k in columns}
            | _totals(rank["totals_ns"])
            for rank in self.record["ranks"]
        ]
        return _with_sums(_frame(rows, columns).set_index("rank"))

    @functools.cached_property
    def waits(self) -> pd.DataFrame:
        """Known waits, by waiting rank and critical rank: rank, waited_for (the critical rank), seconds."""
        rows = [
            {"rank": rank["rank"], "waited_for": int(cause), "seconds": seconds}
            for rank in self.record["ranks"]
            for cause, seconds in rank["waited_for"].items()
        ]
        return _frame(rows, {"rank": "int64", "waited_for": "int64", "seconds": "float64"})

    @functools.cached_property
    def timeline(self) -> pd.DataFrame:
        """The activities of each rank over time: rank, start, end, useful and omp_wait (thread time), mpi_wait (wall
        time), threads. Parts of the waits: lent (core time offered to other ranks) and quiesced (wall time asleep in a
        phase). Beside MPI: gpu_wait (wall time waiting for accelerators)."""
        kinds = {**_properties("sample"), **dict.fromkeys(RARE, "float64")}
        parts = list(self.samples())
        columns: dict[str, Any] = {
            "rank": np.repeat([rank for rank, _ in parts], [len(samples) for _, samples in parts])
        }
        for name in kinds:
            columns[name] = np.concatenate([getattr(samples, name) for _, samples in parts]) if parts else []
        return pd.DataFrame(columns).astype({"rank": "int64", **kinds})

    @functools.cached_property
    def decisions(self) -> pd.DataFrame:
        """All plans, carried out or not: time, node, capability, what, why, forecast_gain, cost, outcome
        (`declined`, `taken`, `confirmed`, `undone`, `undecided` or `requested`), measured_gain, repeats. Bounds:
        forecast_low and forecast_high, measured_low and measured_high."""
        return _frame(self.record["decisions"], _properties("decision"))

    @functools.cached_property
    def moves(self) -> pd.DataFrame:
        """The decisions by which cores moved by plan."""
        return self.decisions[~self.decisions["outcome"].isin(["declined", "requested"])]

    @functools.cached_property
    def loops(self) -> pd.DataFrame:
        """One row per loop with schedule(runtime), dynamic or guided, indexed by its site.

        Columns: ranks, executions, iterations, threads, strategy, why, time, and the fractions idle and stolen. If
        `against` names a strategy, gain, gain_low and gain_high are fractions of the time with that strategy. Empty if
        the record is older than this table."""
        frame = _frame(self.record.get("loops", []), _properties("loop"))
        return frame.fillna({"against": ""}).set_index("site")

    @functools.cached_property
    def kept_regions(self) -> pd.DataFrame:
        """One row per region that kept its thread count because it queries thread IDs, indexed by its site: function
        (empty if the program has no symbols), ranks, and time (of all ranks)."""
        return _frame(self.record.get("kept_regions", []), _properties("kept_region")).set_index("site")

    @functools.cached_property
    def other_regions(self) -> pd.DataFrame:
        """One row per nested region and per region of another thread than the primary, indexed by its site.

        Columns: function (empty if the program has no symbols), nested (false: of another thread), ranks, executions,
        threads (of the largest team), time (s in all executions, of all ranks), useful and imbalance (thread s)."""
        return _frame(self.record.get("other_regions", []), _properties("other_region")).set_index("site")

    @functools.cached_property
    def regions(self) -> pd.DataFrame:
        """One row per named region of the program, indexed by its name, longest time first.

        Columns: wall (of the rank with the longest time), ranks (that executed it), count (executions, of the rank with
        most), and its efficiencies, named as in `metrics`. Empty if the program named none."""
        rows = [
            {"name": region["name"], "wall": region["wall"], "ranks": len(region["ranks"]), "gpu": 1.0}
            | {"count": max((part["count"] for part in region["ranks"]), default=0), **region["metrics"]}
            for region in self.record.get("regions", [])
        ]
        columns = {"name": "object", "wall": "float64", "ranks": "int64", "count": "int64", **_properties("metrics")}
        return _frame(rows, columns).set_index("name")

    @functools.cached_property
    def region_ranks(self) -> pd.DataFrame:
        """What each rank did in each named region: region, rank, count (executions) and the totals of `ranks`, with
        busy and useful."""
        rows = [
            {"region": region["name"], "rank": part["rank"], "count": part["count"], **_totals(part["totals_ns"])}
            for region in self.record.get("regions", [])
            for part in region["ranks"]
        ]
        return _with_sums(_frame(rows, {"region": "object", "rank": "int64", "count": "int64", **_totals_columns()}))

    @functools.cached_property
    def phases(self) -> pd.DataFrame:
        """One row per configuration of a phase of coupled libraries (steelyard/phases.h).

        Columns: phase (its place in the record, from 0), rank and node (of the first process that shares the phase),
        number (of that rank's phases, in the order of creation), sharing (how many processes of the node share it),
        created (how often it was created alike), autotuned, runs and total (seconds of all runs), best (True for the
        fastest configuration so far), resource, max_per_resource, processes and threads (of the configuration), seconds
        (typical time of a run; 0 if none was measured), gain (part of that time which the best configuration saves)
        with gain_low and gain_high (its confidence interval); NaN if the two were not compared. Empty if the program
        has no phases."""
        more = {"phase": "int64", "sharing": "int64", "total": "float64"}
        columns = {**more, **_properties("phase"), **_properties("configuration"), "best": "bool"}
        del columns["configurations"]
        rows = [
            {
                **phase,
                "phase": number,
                "sharing": phase["processes"],
                "total": phase["seconds"],
                **dict.fromkeys(("gain", "gain_low", "gain_high"), float("nan")),
                **configuration,
                "best": at == phase["best"],
            }
            for number, phase in enumerate(self.record.get("phases", []))
            for at, configuration in enumerate(phase["configurations"])
        ]
        return _frame(rows, columns)

    @functools.cached_property
    def tasks(self) -> pd.DataFrame:
        """One row per rank with task pools that were freed.

        Columns: runs, spawned, executed, stolen_local (executed tasks that another thread of the node spawned),
        stolen_remote (executed tasks that came from another node), results_sent and their hops, messages, connections,
        degree, busy_seconds and run_seconds (thread time in tasks and in runs), transport. Empty if the run had no
        pools."""
        return _frame(self.record.get("tasks", []), _properties("tasks")).set_index("rank")

    @functools.cached_property
    def collectives(self) -> pd.DataFrame:
        """One row per rank whose broadcasts Steelyard intercepted.

        Columns: calls. Parts of calls: shared (through shared memory alone), tree (also between nodes), library
        (handled by the MPI library). late (broadcasts to which the rank was late) and behind (sum of its lateness, s).
        If trials compared both ways, for shared and library each: looks (trials), their mean wait, and the bounds
        low and high of its interval. Parts of library, by reason: left_threads, left_boards, left_first, left_length,
        left_choice, left_memory, left_nodes.
        """
        return self._over_board("broadcasts")

    @functools.cached_property
    def scatters(self) -> pd.DataFrame:
        """The same for scatters, which use no trees. Empty if there were none, or if the record is older than this
        table."""
        return self._over_board("scatters")

    def _over_board(self, operation: str) -> pd.DataFrame:
        columns = _properties("broadcasts")
        nothing = dict.fromkeys(columns, 0)
        rows = [{"rank": r["rank"], **nothing, **r[operation]} for r in self.record["ranks"] if operation in r]
        return _frame(rows, {"rank": "int64", **columns}).set_index("rank")

    @functools.cached_property
    def trees(self) -> pd.DataFrame:
        """The broadcast trees between nodes, one row per position: tree, position, and the ranks that were there at
        first and at last (-1: none). Position 0 is the root. Another position receives the data from the position
        without its lowest set bit."""
        rows = [
            {"tree": number, "position": position, "first": first, "last": last}
            for number, tree in enumerate(self.record.get("trees", []))
            for position, (first, last) in enumerate(zip_longest(tree["first"], tree["last"], fillvalue=-1))
        ]
        return _frame(rows, dict.fromkeys(("tree", "position", "first", "last"), "int64"))

    @functools.cached_property
    def nodes(self) -> pd.DataFrame:
        """One row per node, by its index: host, ranks, cores, topology, emulated, phase_source, phases, phase_before
        and phase_after with their bounds (phase_before_low, phase_before_high), nothing_moved, oversubscribed ("ranks",
        "threads" or "")."""
        rows = [{"oversubscribed": "", **node} for node in self.record["nodes"]]
        return _frame(rows, _properties("node")).set_index("index")

    @functools.cached_property
    def thresholds(self) -> dict[str, float]:
        """The limits below which the summary and the page leave something out; those of the schema if the record is
        older than this member."""
        members = schema()["$defs"]["thresholds"]["properties"]
        defaults: dict[str, float] = {name: about["default"] for name, about in members.items()}
        return {**defaults, **self.record.get("thresholds", {})}

    @property
    def confidence(self) -> float:
        """The level of the confidence intervals in the record (--confidence); 0.95 if the record is older than this
        option."""
        return float(self.record["options"].get("confidence", 0.95))

    @property
    def metrics(self) -> pd.Series:
        """Efficiencies of POP and TALP, 0 to 1. gpu: 1 if no rank waited for an accelerator."""
        return pd.Series({"gpu": 1.0, **self.record["metrics"]}, dtype="float64", name="efficiency")


def load(path: PathLike, progress: Optional[Progress] = None) -> Run:
    """Reads a run record of any schema version up to this one. Raises OSError, or InvalidRecord with what is wrong.

    `progress(done, of)` is called after each rank that was read, and after each rank that was checked.
    """
    return Run(*_read(path, progress))


def validate(path: PathLike) -> None:
    """Raises InvalidRecord with all errors and their places, or OSError if the file cannot be read."""
    _read(path)


def _read(path: PathLike, progress: Optional[Progress] = None) -> tuple[dict[str, Any], list[Union[Samples, Packed]]]:
    counted = _Counted(progress or (lambda done, of: None))
    try:
        record = parse(Path(path), counted.read)
    except (ValueError, RecursionError) as error:
        problem = f"not JSON, or cut off: {error}"
        if Path(path).stat().st_size == 0:
            problem = "the file is empty: a run writes its record when it ends"
        raise InvalidRecord(path, [problem]) from error
    if version := _of_another_version(record):
        raise InvalidRecord(path, [version], _OTHER_VERSION if "schema" in record else _NO_RECORD)
    problems, timelines = examine(record, counted.checked)
    if problems:
        raise InvalidRecord(path, problems)
    record["options"] = current(record["options"])
    return record, timelines


def _of_another_version(record: Any) -> Optional[str]:
    """In place of all differences from the schema. Records of schema 1 have been converted."""
    newest: int = schema()["properties"]["schema"]["const"]
    if not isinstance(record, dict) or type(found := record.get("schema", 0)) is not int or found == newest:
        return None
    if "schema" not in record:
        return "schema: missing"
    return f"schema: this version of Steelyard reads 1 to {newest}, found {found}"


class _Counted:
    """Counts the ranks as they are read, and again as they are checked. Nodes come before ranks in the file and give
    the number of ranks."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.done = self.expected = 0

    def read(self, member: dict[str, Any]) -> None:
        if "stolen_here" in member:
            for old in _RENAMED.keys() & member.keys():
                member[_RENAMED[old]] = member.pop(old)
        to_current(member)
        if "phase_source" in member and isinstance(member.get("ranks"), int):
            self.expected += member["ranks"]
        elif "timeline" in member:
            self.expected = max(self.expected, self.done + 1)
            self.checked()

    def checked(self) -> None:
        self.done += 1
        self.progress(self.done, 2 * self.expected)


def _properties(name: str) -> dict[str, str]:
    """The members of a struct in the schema, with the dtypes of their columns."""
    members = schema()["$defs"][name]["properties"]
    return {member: _DTYPES.get(about.get("type", ""), "object") for member, about in members.items()}


def _totals_columns() -> dict[str, str]:
    return {name: "int64" if name in _COUNTS else "float64" for name in _properties("totals")}


def _totals(totals: dict[str, int]) -> dict[str, float]:
    """Times in seconds, with those that the record leaves out."""
    return {**dict.fromkeys(_LATER, 0.0), **dict.fromkeys(_LATER_COUNTS, 0)} | {
        name: value if name in _COUNTS else value * 1e-9 for name, value in totals.items()
    }


def _with_sums(frame: pd.DataFrame) -> pd.DataFrame:
    frame["busy"] = frame["serial"] + frame["region_wall"] + frame["gpu"] + frame["mpi_overlapped"]
    frame["useful"] = frame["serial"] + frame["region_useful"]
    return frame


def _frame(rows: list[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)

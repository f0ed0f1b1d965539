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
from .options import current
from .parse import parse
from .samples import RARE, Packed, Samples, unpack
from .words import duration, plural

PathLike = Union[str, "os.PathLike[str]"]
Progress = Callable[[int, int], None]

_COUNTS = ("regions", "virtual_regions", "mpi_calls")  # in totals_ns, and not times
_RENAMED = {  # members of `tasks` in records of earlier versions
    "stolen_here": "stolen_local",
    "stolen_far": "stolen_remote",
    "busy": "busy_seconds",
    "inside": "run_seconds",
}
# members of a rank that have tables of their own
_NOT_FLAT = ("totals_ns", "waited_for", "timeline", "broadcasts", "scatters")
_DTYPES = {"integer": "int64", "number": "float64", "boolean": "bool"}


class InvalidRecord(ValueError):
    """A file that is not a run record. `problems` lists what is wrong and where."""

    def __init__(self, path: PathLike, problems: list[str]):
        self.problems = problems
        more = f"\n  ... and {len(problems) - 10} more" if len(problems) > 10 else ""
        super().__init__(f"{os.fspath(path)} is not a run record:\n  " + "\n  ".join(problems[:10]) + more)


@dataclass(frozen=True)
class Run:
    """One run of a program. All times in the frames are in seconds since MPI_Init, or seconds long; gains are
    fractions.

    The columns carry the names that the members have in the file; ``schema()`` describes each of them.
    """

    record: dict[str, Any]
    """The file as it is; of an older one, with the options as they are named now."""

    def __repr__(self) -> str:
        """In a line: a record may have megabytes."""
        nodes, ranks = len(self.record["nodes"]), len(self.record["ranks"])
        command = " ".join(self.record["command"])
        return (
            f"<Run of {command}: {plural(ranks, 'rank')} on {plural(nodes, 'node')}, {duration(self.record['wall'])}>"
        )

    _timelines: list[Union[Samples, Packed]] = field(default_factory=list, repr=False)

    def samples(self) -> Iterator[tuple[int, Samples]]:
        """Each rank with its timeline in columns (see `Samples`), one after the other: for records whose whole timeline
        is too large for one data frame."""
        for index, rank in enumerate(self.record["ranks"]):
            known = self._timelines[index] if self._timelines else unpack(rank["timeline"])
            yield rank["rank"], known.unpack() if isinstance(known, Packed) else known

    @functools.cached_property
    def ranks(self) -> pd.DataFrame:
        """One row a rank, indexed by it: node, pid, openmp, threads_at_start, threads_at_end, thread_ceiling,
        fixed_reason, cpu (s on a core, of all threads) and preempted (times that one had to leave it to another; both 0
        where they are not known), and the rank's totals. Of those, wall, serial, mpi, region_wall are wall time;
        region_useful, omp_imbalance, omp_scheduling, omp_serialisation, mpi_capacity, capacity, lent, borrowed are
        thread time; came_late is the part of borrowed on cores that came while a region ran; quiesced is the part of
        mpi asleep in phases; regions, virtual_regions (those with virtual threads) and mpi_calls are counts. Derived:
        busy (wall time outside MPI) and useful (thread time of computing)."""
        totals = _properties("totals")
        columns = {k: v for k, v in _properties("rank").items() if k not in _NOT_FLAT}
        columns |= {name: ("int64" if name in _COUNTS else "float64") for name in totals}
        rows = [
            {"cpu": 0.0, "preempted": 0, "came_late": 0.0, "quiesced": 0.0, "virtual_regions": 0}
            | {k: v for k, v in rank.items() if k in columns}
            | {k: v if k in _COUNTS else v * 1e-9 for k, v in rank["totals_ns"].items()}
            for rank in self.record["ranks"]
        ]
        frame = _frame(rows, columns).set_index("rank")
        frame["busy"] = frame["serial"] + frame["region_wall"]
        frame["useful"] = frame["serial"] + frame["region_useful"]
        return frame

    @functools.cached_property
    def waits(self) -> pd.DataFrame:
        """Who waited for whom, where that is known: rank, waited_for (a rank), seconds."""
        rows = [
            {"rank": rank["rank"], "waited_for": int(cause), "seconds": seconds}
            for rank in self.record["ranks"]
            for cause, seconds in rank["waited_for"].items()
        ]
        return _frame(rows, {"rank": "int64", "waited_for": "int64", "seconds": "float64"})

    @functools.cached_property
    def timeline(self) -> pd.DataFrame:
        """What each rank did when: rank, start, end, useful and omp_wait (thread time), mpi_wait (wall time), threads;
        and of what it waited, lent (core time offered to others) and quiesced (wall time asleep in a phase)."""
        kinds = {**_properties("sample"), **dict.fromkeys(RARE, "float64")}
        parts = list(self.samples())
        columns: dict[str, Any] = {"rank": np.repeat([rank for rank, _ in parts],
                                                     [len(samples) for _, samples in parts])}
        for name in kinds:
            columns[name] = np.concatenate([getattr(samples, name) for _, samples in parts]) if parts else []
        return pd.DataFrame(columns).astype({"rank": "int64", **kinds})

    @functools.cached_property
    def decisions(self) -> pd.DataFrame:
        """Every plan, taken or not: time, node, capability, what, why, forecast_gain, noise, cost, outcome (declined,
        taken, confirmed or undone), measured_gain, measured_noise, repeats."""
        return _frame(self.record["decisions"], _properties("decision"))

    @functools.cached_property
    def loops(self) -> pd.DataFrame:
        """One row a loop with schedule(runtime), dynamic or guided, by its site: ranks, executions, iterations,
        threads, strategy, why, time, and the fractions idle and stolen; gain with gain_noise, as fractions of the time
        with the strategy `against`, where that is not empty. Empty where the record is older than this table."""
        frame = _frame(self.record.get("loops", []), _properties("loop"))
        return frame.fillna({"against": ""}).set_index("site")

    @functools.cached_property
    def kept_regions(self) -> pd.DataFrame:
        """One row a region that kept the program's thread count because it queries thread IDs, by its site: function
        (that it is in; empty if the program has no symbols), ranks, and time (of all ranks). Empty where there were
        none."""
        return _frame(self.record.get("kept_regions", []), _properties("kept_region")).set_index("site")

    @functools.cached_property
    def tasks(self) -> pd.DataFrame:
        """One row a rank whose task pools were freed: runs, spawned, executed, stolen_local (tasks taken from ranks of
        the same node) and stolen_remote (from other nodes), results_sent and the hops that these took, messages,
        connections and degree, busy_seconds and run_seconds (thread time in tasks and in runs). Empty if the run had
        none."""
        return _frame(self.record.get("tasks", []), _properties("tasks")).set_index("rank")

    @functools.cached_property
    def collectives(self) -> pd.DataFrame:
        """One row a rank whose broadcasts Steelyard looked at: calls, of those shared (through shared memory alone),
        tree (between nodes as well) and library (left or given back), late (to which it came after the data) and behind
        (s, the sum of those). Where ways were compared, for shared and library each: looks, the mean wait in these, and
        its noise. Of library, by why: left_threads, left_boards, left_first, left_length, left_choice, left_memory,
        left_nodes. Empty where there were none."""
        return self._over_board("broadcasts")

    @functools.cached_property
    def scatters(self) -> pd.DataFrame:
        """The same of its scatters, which go over no tree. Empty where there were none, or the record is older."""
        return self._over_board("scatters")

    def _over_board(self, operation: str) -> pd.DataFrame:
        columns = _properties("broadcasts")
        nothing = dict.fromkeys(columns, 0)
        rows = [{"rank": r["rank"], **nothing, **r[operation]} for r in self.record["ranks"] if operation in r]
        return _frame(rows, {"rank": "int64", **columns}).set_index("rank")

    @functools.cached_property
    def trees(self) -> pd.DataFrame:
        """The trees of broadcasts between nodes, one row a position of each (0: the root; who stands at another gets
        the data from the one without its lowest bit): tree, position, and the ranks that stood there, first and last
        (-1: none)."""
        rows = [
            {"tree": number, "position": position, "first": first, "last": last}
            for number, tree in enumerate(self.record.get("trees", []))
            for position, (first, last) in enumerate(zip_longest(tree["first"], tree["last"], fillvalue=-1))
        ]
        return _frame(rows, dict.fromkeys(("tree", "position", "first", "last"), "int64"))

    @functools.cached_property
    def nodes(self) -> pd.DataFrame:
        """One row a node, by its index: host, ranks, cores, topology, emulated, phase_source, phases, phase_before and
        phase_after with their noise, nothing_moved."""
        return _frame(self.record["nodes"], _properties("node")).set_index("index")

    @property
    def metrics(self) -> pd.Series:
        """Efficiencies, 0 to 1, as POP and TALP split them."""
        return pd.Series(self.record["metrics"], dtype="float64", name="efficiency")


def load(path: PathLike, progress: Optional[Progress] = None) -> Run:
    """Reads a run record of any schema version up to this one. Raises OSError, or InvalidRecord with what is wrong.

    `progress(done, of)` is told how far it is, at each rank that has been read, and at each that has been checked.
    """
    return Run(*_read(path, progress))


def validate(path: PathLike) -> None:
    """Raises InvalidRecord with all that is wrong with the file, and where; OSError where it cannot be read."""
    _read(path)


def _read(
    path: PathLike, progress: Optional[Progress] = None
) -> tuple[dict[str, Any], list[Union[Samples, Packed]]]:
    counted = _Counted(progress or (lambda done, of: None))
    try:
        record = parse(Path(path), counted.read)
    except (ValueError, RecursionError) as error:
        raise InvalidRecord(path, [f"not JSON, or cut off: {error}"]) from error
    problems, timelines = examine(record, counted.checked)
    if problems:
        raise InvalidRecord(path, problems)
    record["options"] = current(record["options"])
    return record, timelines


class _Counted:
    """Counts the ranks as they are read, and then as they are checked. Nodes, which tell how many there will be, stand
    in front of them."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.done = self.expected = 0

    def read(self, member: dict[str, Any]) -> None:
        if "stolen_here" in member:
            for old in _RENAMED.keys() & member.keys():
                member[_RENAMED[old]] = member.pop(old)
        if "phase_source" in member and isinstance(member.get("ranks"), int):
            self.expected += member["ranks"]
        elif "totals_ns" in member:
            self.expected = max(self.expected, self.done + 1)
            self.checked()

    def checked(self) -> None:
        self.done += 1
        self.progress(self.done, 2 * self.expected)


def _properties(name: str) -> dict[str, str]:
    """The members of a struct in the schema, with the dtypes of their columns."""
    members = schema()["$defs"][name]["properties"]
    return {member: _DTYPES.get(about.get("type", ""), "object") for member, about in members.items()}


def _frame(rows: list[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)

"""Reading and checking run records."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import jsonschema
import pandas as pd

PathLike = Union[str, "os.PathLike[str]"]

_SCHEMA = Path(__file__).with_name("run-record.schema.json")
_COUNTS = ("regions", "mpi_calls")  # in totals_ns, and not times
_DTYPES = {"integer": "int64", "number": "float64", "boolean": "bool"}


class InvalidRecord(ValueError):
    """A file that is not a run record. `problems` lists what is wrong and where."""

    def __init__(self, path: PathLike, problems: list[str]):
        self.problems = problems
        more = f"\n  ... and {len(problems) - 10} more" if len(problems) > 10 else ""
        super().__init__(f"{os.fspath(path)} is not a run record:\n  " + "\n  ".join(problems[:10]) + more)


@dataclass(frozen=True)
class Run:
    """One run of a program. All times in the frames are in seconds since MPI_Init, or seconds long; gains are fractions.

    The columns carry the names that the members have in the file; ``schema()`` describes each of them.
    """

    record: dict[str, Any]
    """The file as it is."""

    @functools.cached_property
    def ranks(self) -> pd.DataFrame:
        """One row a rank, indexed by it: node, pid, openmp, threads_at_start, threads_at_end, thread_ceiling, fixed_reason,
        and the rank's totals. Of those, wall, serial, mpi, region_wall are wall time; region_useful, omp_imbalance,
        omp_scheduling, omp_serialisation, mpi_capacity, capacity, lent, borrowed are thread time; regions and mpi_calls are
        counts. Derived: busy (wall time outside MPI) and useful (thread time of computing)."""
        totals = _properties("totals")
        columns = {k: v for k, v in _properties("rank").items() if k not in ("totals_ns", "waited_for", "timeline", "broadcasts")}
        columns |= {name: ("int64" if name in _COUNTS else "float64") for name in totals}
        rows = [
            {**{k: v for k, v in rank.items() if k in columns}}
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
        """What each rank did when: rank, start, end, useful and omp_wait (thread time), mpi_wait (wall time), threads."""
        rows = [{"rank": rank["rank"], **sample} for rank in self.record["ranks"] for sample in rank["timeline"]]
        return _frame(rows, {"rank": "int64", **_properties("sample")})

    @functools.cached_property
    def decisions(self) -> pd.DataFrame:
        """Every plan, taken or not: time, node, capability, what, why, forecast_gain, noise, cost, outcome (declined, taken,
        confirmed or undone), measured_gain, measured_noise, repeats."""
        return _frame(self.record["decisions"], _properties("decision"))

    @functools.cached_property
    def loops(self) -> pd.DataFrame:
        """One row a loop with schedule(runtime), dynamic or guided, by its site: ranks, executions, iterations, threads,
        strategy, why, time, and the fractions idle and stolen. Empty where the record is older than this table."""
        return _frame(self.record.get("loops", []), _properties("loop")).set_index("site")

    @functools.cached_property
    def nodes(self) -> pd.DataFrame:
        """One row a node, by its index: host, ranks, cores, topology, emulated, phase_source, phases, phase_before and
        phase_after with their noise, nothing_moved."""
        return _frame(self.record["nodes"], _properties("node")).set_index("index")

    @property
    def metrics(self) -> pd.Series:
        """Efficiencies, 0 to 1, as POP and TALP split them."""
        return pd.Series(self.record["metrics"], dtype="float64", name="efficiency")


def load(path: PathLike) -> Run:
    """Reads a run record. Raises OSError, or InvalidRecord with what is wrong."""
    return Run(_read(path))


def validate(path: PathLike) -> None:
    """Raises InvalidRecord with all that is wrong with the file, and where; OSError where it cannot be read."""
    _read(path)


@functools.lru_cache(maxsize=None)
def schema() -> dict[str, Any]:
    """The published JSON schema (draft 2020-12), with the meaning and the unit of every member."""
    return json.loads(_SCHEMA.read_text(encoding="utf-8"))


def _read(path: PathLike) -> dict[str, Any]:
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InvalidRecord(path, [f"not JSON, or cut off: {error}"]) from error
    errors = sorted(jsonschema.Draft202012Validator(schema()).iter_errors(record), key=lambda e: list(map(str, e.path)))
    problems = [f"{_place(error)}: {error.message[:200]}" for error in errors]
    if problems:
        raise InvalidRecord(path, problems)
    return record


def _place(error: jsonschema.ValidationError) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return text.lstrip(".") or "the whole"


def _properties(name: str) -> dict[str, str]:
    """The members of a struct in the schema, with the dtypes of their columns."""
    members = schema()["$defs"][name]["properties"]
    return {member: _DTYPES.get(about.get("type", ""), "object") for member, about in members.items()}


def _frame(rows: list[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)

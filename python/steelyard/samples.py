"""Timelines in columns: from the list of samples that a record holds for each rank, or from the packed form of a
large one."""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from itertools import chain
from typing import Any, Union

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

KEYS = ("start", "end", "useful", "omp_wait", "mpi_wait", "threads")
PACKED = {"length": "<f4", "useful": "<f4", "omp_wait": "<f4", "mpi_wait": "<f4", "threads": "<u2"}
"""Columns of the packed form with their numbers, little-endian in base64. Sample i + 1 begins where sample i ends."""


@dataclass(frozen=True)
class Samples:
    """The timeline of one rank in columns of equal length: start, end and mpi_wait in seconds, useful and omp_wait
    in thread seconds, and the number of threads."""

    start: Floats
    end: Floats
    useful: Floats
    omp_wait: Floats
    mpi_wait: Floats
    threads: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def mpi_share(self) -> Floats:
        """Fraction of each sample that its rank waited in MPI."""
        return _ratio(self.mpi_wait, self.end - self.start)

    @property
    def omp_share(self) -> Floats:
        """Fraction of each sample's core time that OpenMP took: of what is left beside MPI, its part in useful +
        omp_wait."""
        return (1.0 - self.mpi_share) * _ratio(self.omp_wait, self.useful + self.omp_wait)


def unpack(timeline: Union[list[dict[str, Any]], dict[str, Any]]) -> Samples:
    """The columns of a rank's `timeline`, whichever form it has. Raises ValueError with what is wrong with it."""
    return _from_columns(timeline) if isinstance(timeline, dict) else _from_list(timeline)


def pack(samples: Samples) -> dict[str, Any]:
    """The packed form: an eighth of the size, and a hundredth of the time to read. Of what lies between samples
    nothing is kept."""
    columns = {"length": samples.end - samples.start} | {name: getattr(samples, name) for name in list(PACKED)[1:]}
    packed: dict[str, Any] = {"samples": len(samples), "start": float(samples.start[0]) if len(samples) else 0.0}
    for name, kind in PACKED.items():
        packed[name] = binascii.b2a_base64(columns[name].astype(kind).tobytes(), newline=False).decode("ascii")
    return packed


def most_threads(timeline: Union[list[dict[str, Any]], dict[str, Any]]) -> int:
    """The largest team in a rank's `timeline`, without unpacking the rest of it."""
    if isinstance(timeline, dict):
        threads = np.frombuffer(binascii.a2b_base64(timeline["threads"]), dtype=PACKED["threads"])
        return int(threads.max(initial=0))
    return max((int(sample["threads"]) for sample in timeline), default=0)


def _from_list(timeline: list[dict[str, Any]]) -> Samples:
    if any(tuple(sample) != KEYS for sample in timeline):
        timeline = [{key: sample[key] for key in KEYS if len(sample) == len(KEYS)} for sample in timeline]
    values = [list(sample.values()) for sample in timeline]
    if not set(map(type, chain.from_iterable(values))) <= {int, float}:
        raise ValueError("a value that is no number")
    table = np.array(values, dtype=np.float64).reshape(len(values), len(KEYS))
    return _checked(table[:, 0], table[:, 1], table[:, 2], table[:, 3], table[:, 4], table[:, 5])


def _from_columns(packed: dict[str, Any]) -> Samples:
    columns: dict[str, Floats] = {}
    for name, kind in PACKED.items():
        data = binascii.a2b_base64(packed[name])
        if len(data) != packed["samples"] * np.dtype(kind).itemsize:
            raise ValueError(f"{name} has {len(data)} bytes where {packed['samples']} samples were promised")
        columns[name] = np.frombuffer(data, dtype=kind).astype(np.float64)
    end = packed["start"] + np.cumsum(columns["length"])
    start = np.concatenate([[float(packed["start"])], end[:-1]]) if len(end) else end
    return _checked(start, end, columns["useful"], columns["omp_wait"], columns["mpi_wait"], columns["threads"])


def _checked(
    start: Floats, end: Floats, useful: Floats, omp_wait: Floats, mpi_wait: Floats, threads: Floats
) -> Samples:
    for name, column in zip(KEYS, (start, end, useful, omp_wait, mpi_wait, threads)):
        if not (np.isfinite(column) & (column >= 0)).all():
            raise ValueError(f"{name} is negative or no finite number")
    if (threads % 1 != 0).any():
        raise ValueError("threads is no whole number")
    return Samples(start, end, useful, omp_wait, mpi_wait, threads.astype(np.int64))


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole in [0, 1]; 0 where the whole is nothing."""
    return np.clip(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0), 0.0, 1.0)


def merge(samples: Samples, most: int) -> Samples:
    """The same timeline in `most` samples at most: neighbours are merged, twice as many at a time until they fit."""
    stride = 1
    while -(-len(samples) // stride) > max(1, most):
        stride *= 2
    if stride == 1:
        return samples
    first = np.arange(0, len(samples), stride)
    last = np.append(first[1:] - 1, len(samples) - 1)
    useful, omp_wait, mpi_wait = (
        np.add.reduceat(column, first) for column in (samples.useful, samples.omp_wait, samples.mpi_wait)
    )
    return Samples(samples.start[first], samples.end[last], useful, omp_wait, mpi_wait, samples.threads[last])

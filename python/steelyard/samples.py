# SPDX-License-Identifier: BSD-3-Clause
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
PACKED = {
    "length": "<f4",
    "useful": "<f4",
    "omp_wait": "<f4",
    "mpi_wait": "<f4",
    "lent": "<f4",
    "quiesced": "<f4",
    "gpu_wait": "<f4",
    "threads": "<u2",
}
"""Columns of the packed form with their numbers, little-endian in base64. Sample i + 1 begins where sample i ends."""
RARE = ("lent", "quiesced", "gpu_wait")
"""Columns that are left out where all of their numbers are 0, and that lists do not have."""


@dataclass(frozen=True)
class Samples:
    """The timeline of one rank in columns of equal length: start, end and mpi_wait in seconds, useful and omp_wait
    in thread seconds, and the number of threads. Of what was waited, lent (core seconds offered to others) and
    quiesced (seconds asleep in a phase). Beside MPI: gpu_wait, in seconds."""

    start: Floats
    end: Floats
    useful: Floats
    omp_wait: Floats
    mpi_wait: Floats
    threads: npt.NDArray[np.int64]
    lent: Floats
    quiesced: Floats
    gpu_wait: Floats

    def __len__(self) -> int:
        return len(self.start)

    @property
    def mpi_share(self) -> Floats:
        """Fraction of each sample that its rank waited in MPI."""
        return _ratio(self.mpi_wait, self.end - self.start)

    @property
    def lent_share(self) -> Floats:
        """Fraction of each sample's core time that was offered to others; part of mpi_share."""
        cores = np.maximum(self.threads, 1) * (self.end - self.start)
        return np.minimum(_ratio(self.lent, cores), self.mpi_share)

    @property
    def quiesced_share(self) -> Floats:
        """Fraction of each sample that its rank slept in a phase; part of mpi_share, and not of lent_share."""
        return np.minimum(_ratio(self.quiesced, self.end - self.start), self.mpi_share - self.lent_share)

    @property
    def gpu_wait_share(self) -> Floats:
        """Fraction of each sample that its rank waited for an accelerator."""
        return np.minimum(_ratio(self.gpu_wait, self.end - self.start), 1.0 - self.mpi_share)

    @property
    def omp_share(self) -> Floats:
        """Fraction of each sample's core time that OpenMP took: of what is left beside MPI and waits for
        accelerators, its part in useful + omp_wait."""
        return (1.0 - self.mpi_share - self.gpu_wait_share) * _ratio(self.omp_wait, self.useful + self.omp_wait)


@dataclass(frozen=True)
class Packed:
    """The columns of a packed timeline, out of base64 and checked: as small as numbers get."""

    start: float
    columns: dict[str, npt.NDArray[Any]]

    def unpack(self) -> Samples:
        count = len(self.columns["length"])
        floats = {name: column.astype(np.float64) for name, column in self.columns.items() if name != "threads"}
        end = self.start + np.cumsum(floats.pop("length"))
        start = np.concatenate([[self.start], end[:-1]]) if count else end
        for name in RARE:
            floats.setdefault(name, np.zeros(count))
        return Samples(start=start, end=end, threads=self.columns["threads"].astype(np.int64), **floats)


def read(timeline: Union[list[dict[str, Any]], dict[str, Any]]) -> Union[Samples, Packed]:
    """A rank's `timeline`, checked. Raises ValueError with what is wrong with it."""
    return _from_columns(timeline) if isinstance(timeline, dict) else _from_list(timeline)


def unpack(timeline: Union[list[dict[str, Any]], dict[str, Any]]) -> Samples:
    """The columns of a rank's `timeline`, whichever form it has. Raises ValueError with what is wrong with it."""
    found = read(timeline)
    return found.unpack() if isinstance(found, Packed) else found


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
    for name, column in zip(KEYS, table.T):
        _check(name, column)
    threads = table[:, 5]
    if (threads % 1 != 0).any():
        raise ValueError("threads is no whole number")
    nothing = np.zeros(len(table))
    floats = dict(zip(KEYS[:5], table.T))
    return Samples(threads=threads.astype(np.int64), lent=nothing, quiesced=nothing, gpu_wait=nothing, **floats)


def _from_columns(packed: dict[str, Any]) -> Packed:
    columns: dict[str, npt.NDArray[Any]] = {}
    for name, kind in PACKED.items():
        if name in RARE and name not in packed:
            continue
        data = binascii.a2b_base64(packed[name])
        if len(data) != packed["samples"] * np.dtype(kind).itemsize:
            raise ValueError(f"{name} has {len(data)} bytes where {packed['samples']} samples were promised")
        columns[name] = np.frombuffer(data, dtype=kind)
        if name != "threads":
            _check(name, columns[name])
    start = float(packed["start"])
    _check("start", np.array([start]))
    return Packed(start, columns)


def _check(name: str, column: npt.NDArray[Any]) -> None:
    # A number that is none is neither the least nor the greatest of any.
    if not (column.min(initial=0) >= 0 and column.max(initial=0) < np.inf):
        raise ValueError(f"{name} is negative or no finite number")


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
    sums = {
        name: np.add.reduceat(getattr(samples, name), first) for name in ("useful", "omp_wait", "mpi_wait", *RARE)
    }
    return Samples(start=samples.start[first], end=samples.end[last], threads=samples.threads[last], **sums)

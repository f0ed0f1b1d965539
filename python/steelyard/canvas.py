# SPDX-License-Identifier: BSD-3-Clause
"""The timeline as the page keeps it: blocks of ranks, compressed, from which the browser draws at any zoom
(assets/timeline.js).

A block holds, for its ranks one after the other, the end of each sample in ticks, the shares of MPI and OpenMP waits
in 255ths, the thread count, and the shares of what is rare (lent, quiesced, gpu_wait), where the run had any. Ends are
written as differences to the rank before, which in step takes nearly nothing, and both columns of numbers as planes of
bytes, whose counts stand first. All of it is deflated, in base64.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from .record import Progress, Run
from .samples import RARE, Samples

BLOCK = 1 << 19  # samples in a block, about
LARGE = 1 << 22  # samples from which on size counts more than the last digit
MOST_TICKS = 0xFFFFFFFF


@dataclass(frozen=True)
class Canvas:
    """`head` goes into the page as JSON, each block as a script of its own."""

    head: dict[str, Any]
    blocks: list[str]


def canvas(run: Run, progress: Optional[Progress] = None) -> Canvas:
    """`progress(done, of)` is told after each rank."""
    parts = _Blocks(run)
    for done, (rank, samples) in enumerate(run.samples(), 1):
        parts.add(rank, samples)
        if progress is not None:
            progress(done, len(parts.lengths))
    return parts.done()


class _Blocks:
    def __init__(self, run: Run) -> None:
        lists = [rank["timeline"] for rank in run.record["ranks"]]
        self.lengths = [timeline["samples"] if isinstance(timeline, dict) else len(timeline) for timeline in lists]
        self.large = sum(self.lengths) > LARGE
        self.end = max(float(run.record["wall"]), max((_last(timeline) for timeline in lists), default=0.0), 1e-9)
        # A thousandth of a sample is seen at no zoom; where there are many, a hundredth.
        shortest = self.end / max(1, max(self.lengths, default=1))
        self.tick = max(shortest / (256 if self.large else 4096), self.end / (MOST_TICKS - 1))
        self.rare = [name for name in RARE if any(isinstance(t, dict) and name in t for t in lists)]
        self.head: dict[str, Any] = {"end": self.end, "tick": self.tick, "ranks": [], "samples": [], "blocks": []}
        self.head["rare"] = self.rare
        self.blocks: list[str] = []
        self.pending: list[tuple[npt.NDArray[np.int64], Samples]] = []
        self.threads = 1

    def add(self, rank: int, samples: Samples) -> None:
        samples = _without_gaps(samples)
        ends = np.minimum(np.round(samples.end / self.tick), MOST_TICKS).astype(np.int64)
        self.pending.append((ends, samples))
        self.head["ranks"].append(rank)
        self.head["samples"].append(len(samples))
        if len(samples):
            self.threads = max(self.threads, int(samples.threads.max()))
        if sum(len(ends) for ends, _ in self.pending) >= BLOCK:
            self._close()

    def done(self) -> Canvas:
        if self.pending:
            self._close()
        self.head["threads"] = self.threads
        return Canvas(self.head, self.blocks)

    def _close(self) -> None:
        previous: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        columns: list[list[npt.NDArray[np.int64]]] = [[] for _ in range(4 + len(self.rare))]
        for ends, samples in self.pending:
            predicted = np.concatenate([[0], ends])[: len(ends)]
            shared = min(len(ends), len(previous))
            predicted[:shared] = previous[:shared]
            columns[0].append(ends - predicted)
            rare = [getattr(samples, f"{name}_share") for name in self.rare]
            of_mpi = sum(share for name, share in zip(self.rare, rare) if name != "gpu_wait")
            columns[1].append(self._share(np.clip(samples.mpi_share - of_mpi, 0.0, 1.0)))
            columns[2].append(self._share(samples.omp_share))
            columns[3].append(np.diff(samples.threads, prepend=0))
            for column, share in zip(columns[4:], rare):
                column.append(self._share(share))
            previous = ends
        level = 1 if self.large else 9
        ends, mpi, omp, threads, *rare_shares = (np.concatenate(column) for column in columns)
        (many, ends_planes), (few, threads_planes) = _planes(ends), _planes(threads)
        mpi_plane, omp_plane, *rare_planes = (share.astype(np.uint8).tobytes() for share in (mpi, omp, *rare_shares))
        data = b"".join([bytes([many, few]), ends_planes, mpi_plane, omp_plane, threads_planes, *rare_planes])
        self.blocks.append(base64.b64encode(zlib.compress(data, level)).decode("ascii"))
        self.head["blocks"].append(len(self.pending))
        self.pending = []

    def _share(self, share: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        steps = 51 if self.large else 255  # 2 % or 0.4 %
        return (np.round(share * steps) * (255 // steps)).astype(np.int64)


def _without_gaps(samples: Samples) -> Samples:
    """Each sample begins where the one before it ends: a stretch that no sample covers becomes one without threads."""
    before = np.concatenate([[0.0], samples.end[:-1]]) if len(samples) else samples.start
    gaps = np.flatnonzero(samples.start - before > 1e-3 * np.maximum(samples.end - samples.start, 1e-6))
    if not len(gaps):
        return samples
    nothing = np.zeros(len(gaps))
    return Samples(
        start=np.insert(samples.start, gaps, before[gaps]),
        end=np.insert(samples.end, gaps, samples.start[gaps]),
        useful=np.insert(samples.useful, gaps, nothing),
        omp_wait=np.insert(samples.omp_wait, gaps, nothing),
        mpi_wait=np.insert(samples.mpi_wait, gaps, nothing),
        lent=np.insert(samples.lent, gaps, nothing),
        quiesced=np.insert(samples.quiesced, gaps, nothing),
        gpu_wait=np.insert(samples.gpu_wait, gaps, nothing),
        threads=np.insert(samples.threads, gaps, nothing.astype(np.int64)),
    )


def _planes(column: npt.NDArray[np.int64]) -> tuple[int, bytes]:
    """Zigzag; the lowest bytes of all numbers, then the next ones, as many as the largest has: how many, and all of
    them."""
    zigzag = np.where(column >= 0, column << 1, (-column << 1) - 1)
    count = max(1, (int(zigzag.max(initial=0)).bit_length() + 7) // 8)
    bytewise = zigzag.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :count]
    return count, np.ascontiguousarray(bytewise.T).tobytes()


def _last(timeline: Any) -> float:
    if isinstance(timeline, dict):
        return 0.0  # it ends with the run
    return float(timeline[-1]["end"]) if timeline else 0.0

# SPDX-License-Identifier: BSD-3-Clause
"""What a rank did, one activity after the other, as traces have it: a sample of the record computes first, then waits
in OpenMP, then in MPI, then for an accelerator. The parts are measured, their order inside of a sample is not."""

from __future__ import annotations

from typing import Iterator

from .samples import Samples

ACTIVITIES = (
    "computing",
    "waiting in OpenMP",
    "waiting in MPI",
    "waiting, cores lent",
    "asleep in a phase",
    "waiting for a GPU",
)
"""The two before the last are parts of the wait in MPI. Where a part of the cores was lent, that part of the wait
is."""


def stretches(samples: Samples) -> Iterator[tuple[int, tuple[int, ...], int]]:
    """Begin, what each of ACTIVITIES took, in ns, and the threads of each sample. A sample ends where the next
    begins."""
    mpi, omp = samples.mpi_share, samples.omp_share
    lent, asleep, gpu = samples.lent_share, samples.quiesced_share, samples.gpu_wait_share
    for i in range(len(samples)):
        begin, length = ns(samples.start[i]), ns(samples.end[i]) - ns(samples.start[i])
        in_mpi = round(length * mpi[i])
        for_gpu = min(length - in_mpi, round(length * gpu[i]))
        in_omp = min(length - in_mpi - for_gpu, round(length * omp[i]))
        while_lent = min(in_mpi, round(length * lent[i]))
        while_asleep = min(in_mpi - while_lent, round(length * asleep[i]))
        waiting = in_mpi - while_lent - while_asleep
        computing = length - in_mpi - for_gpu - in_omp
        yield begin, (computing, in_omp, waiting, while_lent, while_asleep, for_gpu), int(samples.threads[i])


def ns(seconds: float) -> int:
    return round(seconds * 1e9)

# SPDX-License-Identifier: BSD-3-Clause
"""Named regions of a Python program."""

from mpi4py import MPI

from steelyard import regions


@regions.region("exchange")
def exchange():
    MPI.COMM_WORLD.Barrier()


with regions.region("steps"):
    for _ in range(4):
        exchange()
with regions.paused():
    exchange()
try:
    regions.end("steps")
    print("no error")
except regions.RegionError as error:
    print(f"refused: {error}")

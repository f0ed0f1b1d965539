# SPDX-License-Identifier: BSD-3-Clause
"""Named regions of a Python program."""

from mpi4py import MPI

from steelyard import regions


@regions.region("sum")
def total():
    return MPI.COMM_WORLD.allreduce(1)


with regions.region("steps"):
    counted = [total() for _ in range(4)]
try:
    regions.end("steps")
    print("no error")
except regions.RegionError as error:
    print("refused:", error)
print("counted", counted)

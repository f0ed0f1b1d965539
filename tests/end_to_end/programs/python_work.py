# SPDX-License-Identifier: BSD-3-Clause
"""python_work.py LIBRARY STEPS: rank 0 has four times the work of each other rank.

python_work.py LIBRARY STEPS WAY: only rank 0 repeats regions, and the reduction has lower case. WAY is the thread level
that mpi4py requests, "serialized" or "multiple", or "step"."""

import ctypes
import sys
import time

import mpi4py
import numpy

way = sys.argv[3] if len(sys.argv) > 3 else ""
mpi4py.rc.thread_level = way if way == "serialized" else "multiple"
from mpi4py import MPI  # noqa: E402

library, steps = ctypes.CDLL(sys.argv[1]), int(sys.argv[2])
library.work.argtypes, library.work.restype = [ctypes.c_int, ctypes.c_double], ctypes.c_long
world = MPI.COMM_WORLD
units = 64 if world.rank == 0 else 16
total = numpy.zeros(1, dtype=numpy.int64)
for step in range(steps if way else 0):
    if world.rank == 0 or step == 0:
        library.work(64, 0.001)
    else:
        time.sleep(0.004)
    world.allreduce(step)
    if way == "step":
        ctypes.CDLL(None).steelyard_step()
for _ in range(0 if way else steps):
    done = numpy.array([library.work(units, 0.001)], dtype=numpy.int64)
    world.Allreduce(done, total)
    assert total[0] == 64 + 16 * (world.size - 1)
if world.rank == 0 and not way:
    print("units", total[0])

# SPDX-License-Identifier: BSD-3-Clause
"""python_work.py LIBRARY STEPS: rank 0 has four times the work of each other rank."""

import ctypes
import sys

import numpy
from mpi4py import MPI

library, steps = ctypes.CDLL(sys.argv[1]), int(sys.argv[2])
library.work.argtypes, library.work.restype = [ctypes.c_int, ctypes.c_double], ctypes.c_long
world = MPI.COMM_WORLD
units = 64 if world.rank == 0 else 16
total = numpy.zeros(1, dtype=numpy.int64)
for _ in range(steps):
    done = numpy.array([library.work(units, 0.001)], dtype=numpy.int64)
    world.Allreduce(done, total)
    assert total[0] == 64 + 16 * (world.size - 1)
if world.rank == 0:
    print("units", total[0])

# SPDX-License-Identifier: BSD-3-Clause
"""Cores by calls in Python: rank 1 lends, rank 0 acquires, rank 1 takes back. The argument is a folder for signals."""

import sys
import time
from pathlib import Path

from steelyard import cores

cores.init(4)

from mpi4py import MPI  # noqa: E402  # after init()

try:
    cores.init(4)
except cores.CoresError as error:
    print(f"refused: {error}")
comm = MPI.COMM_WORLD
rank = comm.Get_rank()
told = []


def signal(name):
    (Path(sys.argv[1]) / name).touch()


def wait_for(name):
    while not (Path(sys.argv[1]) / name).exists():
        time.sleep(0.001)


def changed(cpus):
    told.append(len(cpus))
    raise KeyError("from the callback")


cores.on_change(changed)
counts, clock = [len(cores.get())], [time.monotonic_ns()]
if rank == 1:
    counts += [cores.lend(sys.maxsize), len(cores.get())]
    clock.append(time.monotonic_ns())
comm.Barrier()
if rank == 0:
    clock = [time.monotonic_ns()]
    counts += [cores.acquire(3), len(cores.get())]
    clock.append(time.monotonic_ns())
    signal("acquired")
    wait_for("asked")
    clock.append(time.monotonic_ns())
    try:
        cores.poll()
    except KeyError as error:
        told.append(error.args[0])
    clock.append(time.monotonic_ns())
    signal("returned")
else:
    wait_for("acquired")
    time.sleep(0.02)  # Linux lets a process sleep for longer, and never for less
    clock.append(time.monotonic_ns())
    counts.append(cores.reclaim())
    clock.append(time.monotonic_ns())
    signal("asked")
    wait_for("returned")
    cores.on_change(None)
    cores.poll()
    counts.append(len(cores.get()))
print(f"rank {rank}: {cores.why_not_movable() or 'movable'} {counts} {told}\nrank {rank} clock {clock}", flush=True)
comm.Barrier()

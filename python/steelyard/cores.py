# SPDX-License-Identifier: BSD-3-Clause
"""Cores for a Python program that runs under ``steelyard run`` and has threads of its own: see steelyard/cores.h.

>>> from steelyard import cores
>>> cores.init()                       # before MPI is initialised
>>> from mpi4py import MPI
>>> cores.acquire(64)                  # what other ranks do not need now
>>> work(cores.get())                  # a thread on each of these CPUs
>>> MPI.COMM_WORLD.Barrier()           # returns what was acquired

Without ``steelyard run``, no core moves. Needs no other package.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, List, Optional

from . import calls

__all__ = ["CoresError", "acquire", "get", "init", "lend", "movable", "on_change", "poll", "reclaim", "release",
           "why_not_movable"]

_library = calls.library
_MOST = 2**31 - 1  # of a C int
_Callback = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int), ctypes.c_int, ctypes.c_void_p)
_callback: Any = None  # the library has its address
_thrown: Optional[BaseException] = None  # by the callback


class CoresError(RuntimeError):
    """A call that was refused: the message of Steelyard."""


def init(cores: int = 0) -> None:
    """Says before MPI is initialised (``from mpi4py import MPI``) how many threads this rank runs. 0: one for each core
    of its affinity mask."""
    _call("steelyard_cores_init", _number(cores))


def movable() -> bool:
    """True if cores can move now; otherwise why_not_movable() says why."""
    return not why_not_movable()


def why_not_movable() -> str:
    """Why no core can move now; empty if cores can."""
    library = _library()
    if library is None:
        return "not started under `steelyard run`"
    return "" if library.steelyard_cores_movable() else calls.message(library)


def get() -> List[int]:
    """The CPUs on which this rank may run threads now, its own first. Bind each thread to one of them:
    ``os.sched_setaffinity(0, {cpu})`` in the thread."""
    count = ctypes.c_int(0)
    if not _call("steelyard_cores_get", None, 0, ctypes.byref(count)):
        return sorted(os.sched_getaffinity(0))
    cpus = (ctypes.c_int * count.value)()
    _call("steelyard_cores_get", cpus, count, ctypes.byref(count))
    return list(cpus)


def lend(cores: int) -> int:
    """Lends cores of this rank, the last of get(), until reclaim(). Returns how many."""
    return _counted("steelyard_cores_lend", cores)


def reclaim() -> int:
    """Takes lent cores back. Returns how many others still use: poll() takes them when they come free."""
    return _counted("steelyard_cores_reclaim")


def acquire(cores: int) -> int:
    """Acquires up to this many cores of other ranks, until release() or the next blocking MPI call. Returns how
    many."""
    return _counted("steelyard_cores_acquire", cores)


def release() -> None:
    """Returns all acquired cores."""
    _call("steelyard_cores_release")


def on_change(callback: Optional[Callable[[List[int]], object]]) -> None:
    """Sets what poll() calls with the CPUs on which the program may run from now on; None for nothing. When it returns,
    no thread may run on other CPUs. It must not call functions of this module."""
    global _callback

    def changed(cpus: Any, count: int, _: Any) -> None:
        global _thrown
        try:
            assert callback is not None
            callback(cpus[:count])
        except BaseException as error:  # a callback of ctypes would print it, and the program would go on
            _thrown = error

    new = _Callback(changed) if callback is not None else _Callback()
    _call("steelyard_cores_on_change", new, None)
    _callback = new


def poll() -> None:
    """A point at which the program can change its threads: takes own cores that have come free, calls the callback if
    the CPUs have changed, and returns the cores that their owners have asked for. What the callback has raised is
    raised again afterwards."""
    global _thrown
    _call("steelyard_cores_poll")
    thrown, _thrown = _thrown, None
    if thrown is not None:
        raise thrown


def _call(function: str, *arguments: Any) -> bool:
    return calls.checked(_library(), function, CoresError, *arguments)


def _number(cores: int) -> ctypes.c_int:
    return ctypes.c_int(min(cores, _MOST))


def _counted(function: str, *cores: int) -> int:
    count = ctypes.c_int(0)
    _call(function, *map(_number, cores), ctypes.byref(count))
    return count.value

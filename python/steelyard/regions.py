# SPDX-License-Identifier: BSD-3-Clause
"""Named regions of a Python program that runs under ``steelyard run``: see steelyard/regions.h.

>>> from steelyard.regions import region
>>> with region("solve"):
...     solve()
>>> @region("output")
... def write(): ...

Without ``steelyard run``, nothing happens. Needs no other package.
"""

from __future__ import annotations

import ctypes
from contextlib import ContextDecorator
from types import TracebackType
from typing import Any, Optional, Type, TypeVar

from . import calls

__all__ = ["RegionError", "begin", "efficiencies", "end", "pause", "paused", "region", "resume"]

_library = calls.library


class RegionError(RuntimeError):
    """A call that was refused: the message of Steelyard."""


def begin(name: str) -> bool:
    """Begins a region. In the thread that initialised MPI. False if this process is not measured; RegionError if the
    name is wrong or the region is open."""
    return _call("steelyard_region_begin", name.encode("utf-8"))


def end(name: str) -> bool:
    """Ends the innermost open region. In the thread that initialised MPI. False if this process is not measured;
    RegionError if it is not the innermost one."""
    return _call("steelyard_region_end", name.encode("utf-8"))


def pause() -> bool:
    """Pauses the measurement: until resume(), nothing that this process does is in a figure. False if this process is
    not measured; RegionError if it is paused."""
    return _call("steelyard_pause")


def resume() -> bool:
    """Resumes the measurement. False if this process is not measured; RegionError if it is not paused."""
    return _call("steelyard_resume")


_FIGURES = (
    "parallel",
    "mpi",
    "load_balance",
    "communication",
    "openmp",
    "omp_load_balance",
    "omp_scheduling",
    "omp_serialisation",
    "gpu",
)


class _Efficiencies(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_double), ("ranks", ctypes.c_int), *((name, ctypes.c_double) for name in _FIGURES)]


def efficiencies() -> dict[str, float]:
    """Efficiencies of this node's ranks so far, by the names of steelyard_efficiencies_t. Empty if this process is not
    measured."""
    figures = _Efficiencies()
    if not _call("steelyard_get_efficiencies", ctypes.byref(figures)):
        return {}
    return {name: getattr(figures, name) for name in ("seconds", "ranks", *_FIGURES)}


Block = TypeVar("Block", bound="_Block")


class _Block(ContextDecorator):
    """Calls _begin(), and at the end of the block _end(). If this process was not measured at the begin, the end makes
    no call: Steelyard would refuse the end of what never began."""

    def __init__(self) -> None:
        self._begun: list[bool] = []  # of the open blocks, innermost last: a decorated function may call itself

    def __enter__(self: Block) -> Block:
        self._begun.append(self._begin())
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._begun.pop():
            self._end()

    def _begin(self) -> bool:
        raise NotImplementedError

    def _end(self) -> bool:
        raise NotImplementedError


class paused(_Block):  # named like contextlib's managers
    """A context manager, and a decorator of functions: the measurement is paused in the block or the call."""

    def _begin(self) -> bool:
        return pause()

    def _end(self) -> bool:
        return resume()


class region(_Block):  # named like contextlib's managers
    """A context manager, and a decorator of functions: the region lasts as long as the block or the call."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def _begin(self) -> bool:
        return begin(self.name)

    def _end(self) -> bool:
        return end(self.name)


def _call(function: str, *arguments: Any) -> bool:
    return calls.checked(_library(), function, RegionError, *arguments)

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
import functools
from contextlib import ContextDecorator
from types import TracebackType
from typing import Any, Optional, Type

__all__ = ["RegionError", "begin", "end", "pause", "paused", "region", "resume"]

_SUCCESS, _INACTIVE = 0, 1


class RegionError(RuntimeError):
    """A call that was refused: the message of Steelyard."""


def begin(name: str) -> bool:
    """Begins a region. In the thread that initialised MPI. False if this process is not measured; RegionError if the
    name is wrong or the region is open."""
    return _call("steelyard_region_begin", name)


def end(name: str) -> bool:
    """Ends the innermost open region. In the thread that initialised MPI. False if this process is not measured;
    RegionError if it is not the innermost one."""
    return _call("steelyard_region_end", name)


def pause() -> bool:
    """Pauses the measurement: until resume(), nothing that this process does is in a figure. False if this process is
    not measured; RegionError if it is paused."""
    return _call("steelyard_pause")


def resume() -> bool:
    """Resumes the measurement. False if this process is not measured; RegionError if it is not paused."""
    return _call("steelyard_resume")


class paused(ContextDecorator):  # named like contextlib's managers
    """A context manager, and a decorator of functions: the measurement is paused in the block or the call."""

    def __enter__(self) -> paused:
        pause()
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        resume()


class region(ContextDecorator):  # named like contextlib's managers
    """A context manager, and a decorator of functions: the region lasts as long as the block or the call."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> region:
        begin(self.name)
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        end(self.name)


@functools.lru_cache(maxsize=None)
def _library() -> Any:
    """What `steelyard run` has preloaded; None without it."""
    process = ctypes.PyDLL(None)  # keeps the GIL, as the calls are short
    if not hasattr(process, "steelyard_region_begin"):
        return None
    for call in (process.steelyard_region_begin, process.steelyard_region_end):
        call.argtypes, call.restype = [ctypes.c_char_p], ctypes.c_int
    for call in (process.steelyard_pause, process.steelyard_resume):
        call.argtypes, call.restype = [], ctypes.c_int
    process.steelyard_message.argtypes, process.steelyard_message.restype = [], ctypes.c_char_p
    return process


def _call(function: str, *names: str) -> bool:
    library = _library()
    if library is None:
        return False
    status = getattr(library, function)(*(name.encode("utf-8") for name in names))
    if status not in (_SUCCESS, _INACTIVE):
        raise RegionError(library.steelyard_message().decode("utf-8", "replace"))
    return bool(status == _SUCCESS)

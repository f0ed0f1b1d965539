# SPDX-License-Identifier: BSD-3-Clause
"""Run records of Steelyard as data frames.

>>> import steelyard
>>> run = steelyard.load("steelyard-run.json")
>>> run.ranks[["threads_at_start", "threads_at_end", "mpi"]]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .check import schema
    from .record import InvalidRecord, Run, load, validate
    from .samples import Samples

__all__ = ["InvalidRecord", "Run", "Samples", "load", "schema", "validate"]

_WHERE = {
    "InvalidRecord": "record",
    "Run": "record",
    "Samples": "samples",
    "load": "record",
    "schema": "check",
    "validate": "record",
}


def __getattr__(name: str) -> Any:
    """On first use, so that `python3 -m steelyard` can say which package is missing."""
    if name not in _WHERE:
        raise AttributeError(f"module 'steelyard' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)

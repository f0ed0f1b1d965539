# SPDX-License-Identifier: BSD-3-Clause
"""Calls of the library that ``steelyard run`` has loaded into this process. Needs no other package."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Type

_SUCCESS, _INACTIVE = 0, 1


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """What `steelyard run` has preloaded; None without it."""
    process = ctypes.PyDLL(None)  # keeps the GIL, as the calls are short
    if not hasattr(process, "steelyard_message"):
        return None
    process.steelyard_message.restype = ctypes.c_char_p
    return process


def message(found: Any) -> str:
    """What the last call of library() said."""
    return str(found.steelyard_message().decode("utf-8", "replace"))


def checked(found: Any, function: str, error: Type[RuntimeError], *arguments: Any) -> bool:
    """Makes a call of library(), with arguments of ctypes. False if this process is not measured; `error` if the call
    is refused."""
    if found is None:
        return False
    status = getattr(found, function)(*arguments)
    if status not in (_SUCCESS, _INACTIVE):
        raise error(message(found))
    return bool(status == _SUCCESS)

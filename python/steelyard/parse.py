# SPDX-License-Identifier: BSD-3-Clause
"""JSON of a run record. Nearly all of a large one is packed timelines, in strings of many kilobytes: these are cut out,
which takes a fraction of the time and memory that json needs to look at each of their letters."""

from __future__ import annotations

import gc
import json
import mmap
from pathlib import Path
from typing import Any, Callable, NoReturn, Union

from .samples import PACKED

Hook = Callable[[dict[str, Any]], None]

_LONG = 1024  # letters of a string that is worth cutting out
_MARK = "\0"  # the text that replaces it begins with this


def parse(path: Path, looks: Hook) -> Any:
    """The document; `looks` sees each object in it as soon as it is read. Raises ValueError where it is no JSON."""
    with path.open("rb") as file:
        try:
            data: Union[bytes, mmap.mmap] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):  # a pipe, or nothing in it
            data = file.read()
    collecting = gc.isenabled()
    gc.disable()  # millions of objects come, and none goes
    try:
        return _parse(data, looks)
    finally:
        if collecting:
            gc.enable()
        if isinstance(data, mmap.mmap):
            data.close()


def _parse(data: Union[bytes, mmap.mmap], looks: Hook) -> Any:
    rest, columns = _without_columns(data)

    def put_back(member: dict[str, Any]) -> dict[str, Any]:
        if "samples" in member:
            for name in PACKED:
                if name in member and isinstance(member[name], str):
                    member[name] = columns.get(member[name], member[name])
        looks(member)
        return member

    try:
        return json.loads(rest, parse_constant=_refuse, object_hook=put_back)
    except json.JSONDecodeError:
        if not columns:
            raise
        return json.loads(data[:], parse_constant=_refuse)  # says where in the file


def _without_columns(data: Union[bytes, mmap.mmap]) -> tuple[bytes, dict[str, str]]:
    """What is left without the long strings of packed timelines, and these by what stands in their places."""
    parts: list[bytes] = []
    columns: dict[str, str] = {}
    kept = at = 0
    while (at := data.find(b'"samples"', at)) >= 0:
        at += len(b'"samples"')
        end_of_object = data.find(b"}", at)  # objects of a packed timeline have nothing nested
        while 0 <= (begin := data.find(b'"', at)) < end_of_object:
            end = data.find(b'"', begin + 1)
            if end < 0:
                break
            at = end + 1
            if end - begin < _LONG:
                continue
            text = data[begin + 1 : end]
            if b"\\" in text or not text.isascii():  # not base64: the json module reads it
                break
            mark = f"{_MARK}{len(columns)}"
            columns[mark] = text.decode("ascii")
            parts += [data[kept : begin + 1], json.dumps(mark)[1:-1].encode("ascii")]
            kept = end
    parts.append(data[kept:])
    return b"".join(parts), columns


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")

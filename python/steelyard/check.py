# SPDX-License-Identifier: BSD-3-Clause
"""Checks a record against the published schema: fast where all is right, with every place and reason where something
is not."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any, Callable, Union

import jsonschema

from . import samples

_SCHEMA = Path(__file__).with_name("run-record.schema.json")
Check = Callable[[Any], bool]


@functools.lru_cache(maxsize=None)
def schema() -> dict[str, Any]:
    """The published JSON schema (draft 2020-12), with the meaning and the unit of every member."""
    document: dict[str, Any] = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    return document


def examine(
    record: Any, checked: Callable[[], None] = lambda: None
) -> tuple[list[str], list[Union[samples.Samples, samples.Packed]]]:
    """All that is wrong, as "place: sentence", and the ranks' timelines where nothing is. `checked()` is called after
    each timeline."""
    timelines: list[Union[samples.Samples, samples.Packed]] = []
    wrong: list[str] = []
    if not _compiled()(record):
        wrong = _explained(record)
    for index, rank in enumerate(record["ranks"] if not wrong else ()):
        try:
            timelines.append(samples.read(rank["timeline"]))
        except (ValueError, LookupError, OverflowError) as problem:
            wrong.append(f"ranks[{index}].timeline: {problem}")
        checked()
    return (_explained(record) or wrong, []) if wrong else ([], timelines)


def _explained(record: Any) -> list[str]:
    errors = jsonschema.Draft202012Validator(schema()).iter_errors(record)
    deepest = (jsonschema.exceptions.best_match([error]) for error in errors)  # inside of a oneOf: what is really wrong
    return [
        f"{_place(error)}: {error.message[:200]}"
        for error in sorted(deepest, key=lambda e: list(map(str, e.absolute_path)))
    ]


def _place(error: jsonschema.ValidationError) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return text.lstrip(".") or "the whole"


@functools.lru_cache(maxsize=None)
def _compiled() -> Check:
    """A predicate that is as strict as the schema, apart from samples, which samples.read() checks in bulk:
    jsonschema takes minutes where thousands of ranks have timelines."""
    return _compile(schema())


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_SAID = {"$schema", "$id", "$comment", "$defs", "title", "description", "default"}  # say nothing about values


def _compile(part: dict[str, Any]) -> Check:
    if part == {"$ref": "#/$defs/sample"}:
        return lambda value: isinstance(value, dict)
    checks = [_KEYWORDS[keyword](part) for keyword in part if keyword not in _SAID]
    if len(checks) == 1:
        return checks[0]
    return lambda value: all(check(value) for check in checks)


def _type(part: dict[str, Any]) -> Check:
    types = _TYPES[part["type"]]
    if bool in types:
        return lambda value: isinstance(value, types)
    return lambda value: isinstance(value, types) and not isinstance(value, bool)


def _properties(part: dict[str, Any]) -> Check:
    members = {name: _compile(about) for name, about in part["properties"].items()}
    return lambda value: all(check(value[name]) for name, check in members.items() if name in value)


def _additional(part: dict[str, Any]) -> Check:
    known = frozenset(part.get("properties", ()))
    if part["additionalProperties"] is False:
        return lambda value: known.issuperset(value)
    check = _compile(part["additionalProperties"])
    return lambda value: all(check(member) for name, member in value.items() if name not in known)


def _items(part: dict[str, Any]) -> Check:
    check = _compile(part["items"])
    return lambda value: all(map(check, value))


def _names(part: dict[str, Any]) -> Check:
    check = _compile(part["propertyNames"])
    return lambda value: all(map(check, value))


def _required(part: dict[str, Any]) -> Check:
    names = part["required"]
    return lambda value: all(name in value for name in names)


def _reference(part: dict[str, Any]) -> Check:
    return _compile(schema()["$defs"][part["$ref"].rsplit("/", 1)[1]])


def _one_of(part: dict[str, Any]) -> Check:
    choices = [_compile(choice) for choice in part["oneOf"]]
    return lambda value: sum(check(value) for check in choices) == 1


def _pattern(part: dict[str, Any]) -> Check:
    search = re.compile(part["pattern"]).search
    return lambda value: search(value) is not None


# In a schema that names the type first, each of these is asked only about values of that type.
_KEYWORDS: dict[str, Callable[[dict[str, Any]], Check]] = {
    "type": _type,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "propertyNames": _names,
    "required": _required,
    "$ref": _reference,
    "oneOf": _one_of,
    "pattern": _pattern,
    "const": lambda part: lambda value: value == part["const"] and type(value) is type(part["const"]),
    "enum": lambda part: lambda value: value in part["enum"],
    "minimum": lambda part: lambda value: value >= part["minimum"],
    "maximum": lambda part: lambda value: value <= part["maximum"],
    "minLength": lambda part: lambda value: len(value) >= part["minLength"],
}

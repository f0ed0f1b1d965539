# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a page: columns with a name and an explanation, cells that know by what they sort."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Sequence

from .check import schema
from .words import duration, number, percent


@dataclass(frozen=True)
class Cell:
    text: str
    value: Optional[float] = None
    """By which the column is sorted; None sorts by the text."""

    @property
    def kind(self) -> str:
        """How a cell of words may be broken: "text" is long, "name" is a word without blanks."""
        if len(self.text) > 32 and " " in self.text:
            return "text"
        return "name" if len(self.text) > 16 and " " not in self.text else ""

    @property
    def shown(self) -> str:
        """A value is broken only before and in its confidence interval."""
        if self.value is None:
            return self.text
        return self.text.replace(" ", "\u00a0").replace("\u00a0(", " (").replace("CI\u00a0", "CI ")


@dataclass(frozen=True)
class Column:
    name: str
    about: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Row:
    cells: Sequence[Cell]
    kind: str = ""


@dataclass(frozen=True)
class Table:
    columns: Sequence[Column]
    rows: list[Row] = field(default_factory=list)

    def add(self, *cells: Cell, kind: str = "") -> None:
        self.rows.append(Row(cells, kind))


def meaning(struct: str, member: str) -> str:
    """What the schema says about a member."""
    about: str = schema()["$defs"][struct]["properties"][member].get("description", "")
    return about


def text(words: object) -> Cell:
    return Cell(str(words))


def count(value: float) -> Cell:
    return Cell(number(value), float(value))


def seconds(value: float) -> Cell:
    return Cell(duration(value), float(value))


def share(value: float, digits: int = 0) -> Cell:
    return Cell(percent(value, digits), float(value))


def nothing() -> Cell:
    return Cell("–", -1.0)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""list-constants.py [--bare] [FOLDER...]: lists the named numeric constants of src/, tests left out: file and line,
name, value and comment, separated by tabs; then their number per folder.

A constant is a constexpr or const variable of any scope, whose value consists of literals. --bare: only constants
without a comment on their line or on the lines above them."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple

DECLARATION = re.compile(
    r"^[ \t]*(?:(?:static|inline|alignas\(\w+\)) )*(?:constexpr|const) (?:(?:static|inline) )*"
    r"(?:std::)?(?:u?int(?:\d+|ptr)?_t|int|unsigned|long|double|float|size_t|auto|bool|[\w:]+)(?: (?:int|long))? "
    r"(?P<list>\w+(?: =|\{)[^;()]*(?:\([^;]*\))?[^;]*);(?P<rest>[^\n]*)",
    re.M,
)
BRACES = r"[^{}]*(?:\{[^{}]*\}[^{}]*)*"
NAME = re.compile(rf"(\w+) ?(?:= ?([^,{{}}]+(?:\{{[^{{}}]*\}}[^,]*)?)|\{{({BRACES})\}})(?:, |$)")
# Literals, units and operators: what a value may consist of. Names are left once these are taken away.
LITERAL = re.compile(
    r"0x[\da-fA-F']+[uUlLzZ]*|\d[\d'.]*(?:[eE][-+]?\d+)?[uUlLfFzZ]*|std::size_t|std::u?int\d+_t|[-+*/%<>|&~(){}\s]"
)


class Constant(NamedTuple):
    file: str
    line: int
    name: str
    value: str
    comment: str


def comment_above(lines: list[str], index: int) -> str:
    found: list[str] = []
    while index > 0 and re.match(r"\s*//", lines[index - 1]):
        index -= 1
        found.insert(0, re.sub(r"^\s*///?<? ?", "", lines[index]))
    return " ".join(found)


def constants(name: str, source: str) -> Iterator[Constant]:
    lines = source.split("\n")
    for match in DECLARATION.finditer(source):
        first = source.count("\n", 0, match.start("list"))
        if "[" in match["list"]:  # a lambda, or an array
            continue
        inner = re.findall(r"//+<? ?(.*)", match["list"])
        beside = re.match(r"\s*//+<? ?(.*)", match["rest"])
        comment = " ".join(filter(None, [comment_above(lines, first), *inner, beside[1] if beside else ""]))
        declared = re.sub(r"//[^\n]*|\s+", " ", match["list"]).strip()
        for one in NAME.finditer(re.sub(r"\s+", " ", declared)):
            value = (one[2] or one[3]).strip()
            if re.search(r"\d", value) and not LITERAL.sub("", value).strip():
                yield Constant(name, first + 1, one[1], value, comment)


def main() -> None:
    parser = argparse.ArgumentParser(description="Named numeric constants of src/.")
    parser.add_argument("folders", nargs="*", help="folders of src/; all without this")
    parser.add_argument("--bare", action="store_true", help="only constants without a comment")
    given = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    count: Counter[str] = Counter()
    for path in sorted((root / "src").rglob("*.*")):
        name = path.relative_to(root).as_posix()
        folder = name.split("/")[1]
        if path.suffix not in (".h", ".cpp") or given.folders and folder not in given.folders:
            continue
        if re.search(r"_(test|benchmark)\.cpp$|test_|simulated|fake_|sample_records|played_|explorer", path.name):
            continue
        for constant in constants(name, path.read_text(encoding="utf-8")):
            if given.bare and constant.comment:
                continue
            count[folder] += 1
            print(f"{name}:{constant.line}\t{constant.name}\t{constant.value}\t{constant.comment}")
    for folder, number in sorted(count.items()):
        print(f"src/{folder}: {number}")
    print(f"list-constants: {count.total()}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""list-constants.py [--bare | --check] [FOLDER...]: lists the named numeric constants of src/, tests left out: file and
line, kind, name, value and comment, separated by tabs; then their number per folder.

A constant is a constexpr or const variable of any scope, whose value consists of literals. Enumerators are none:
numbers of a standard belong in an enumeration that has its name. The kind is what the comment of the constant, on its
line or on the lines above, begins with:
  Format:    the value is given by a standard or another program's format, which the comment names
  Size:      of a thing of the system, as a page, a cache or a message that an MPI library sends at once; of a table in
             memory, with what it holds; of a line or list of text
  Encoding:  another value would do as well: a mark, a bit, a width of a field
All others are tuning constants: thresholds, limits and weights. Their comment names the unit and the source of the
value. --bare: only constants without a comment. --check: lists nothing, and complains if there are more tuning
constants than MOST_TUNING."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple

MOST_TUNING = 59  # in src/: may only shrink

KIND = re.compile(r"(Format|Size|Encoding): ")
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
    kind: str
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
        comments = list(filter(None, [comment_above(lines, first), *inner, beside[1] if beside else ""]))
        kinds = [found[1].lower() for comment in comments if (found := KIND.match(comment))]
        declared = re.sub(r"//[^\n]*|\s+", " ", match["list"]).strip()
        for one in NAME.finditer(re.sub(r"\s+", " ", declared)):
            value = (one[2] or one[3]).strip()
            if re.search(r"\d", value) and not LITERAL.sub("", value).strip():
                yield Constant(name, first + 1, kinds[0] if kinds else "tuning", one[1], value, " ".join(comments))


def main() -> None:
    parser = argparse.ArgumentParser(description="Named numeric constants of src/.")
    parser.add_argument("folders", nargs="*", help="folders of src/; all without this")
    parser.add_argument("--bare", action="store_true", help="only constants without a comment")
    parser.add_argument("--check", action="store_true", help="only check the number of tuning constants")
    given = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    tuning: Counter[str] = Counter()
    others: Counter[str] = Counter()
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
            (tuning if constant.kind == "tuning" else others)[folder] += 1
            if not given.check:
                print(f"{name}:{constant.line}", *constant[2:], sep="\t")
    if not given.check:
        for folder in sorted(tuning | others):
            print(f"src/{folder}: {tuning[folder]} tuning, {others[folder]} other")
    print(f"list-constants: {tuning.total()} tuning constants, {others.total()} other")
    if given.check and tuning.total() > MOST_TUNING:
        print(f"list-constants: more than {MOST_TUNING} tuning constants: measure, derive the value, or do without")
        sys.exit(1)


if __name__ == "__main__":
    main()

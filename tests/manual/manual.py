# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the manual, and the blocks in them.

A block says how it is tested by a comment in front of it, which no reader sees:

    (nothing)                  sh is run; c, cpp, fortran are compiled between the lines of around/PAGE.EXTENSION.in;
                               python is run
    <!-- syntax: reason -->    a command that cannot be run here: looked at by bash -n, and its options by the option
                               table
    <!-- file: NAME -->        is written to NAME, for the commands that follow
    <!-- output -->            what the block before it prints: the same kinds of lines

A block stands between fences at the margin. One that is only indented would be seen by no test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND_PAGES = PAGES


@dataclass
class Block:
    page: Path
    line: int
    language: str
    note: str  # of the comment in front of it
    text: str

    def __str__(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    found, note, at = [], "", 0
    lines = page.read_text().split("\n")
    while at < len(lines):
        line = lines[at]
        if comment := re.fullmatch(r"<!-- (.*) -->", line.strip()):
            note = comment.group(1)
        elif fence := re.match(r"```(\S*)", line):
            end = lines.index("```", at + 1)
            found.append(Block(page, at + 1, fence.group(1), note, "\n".join(lines[at + 1:end]) + "\n"))
            note, at = "", end
        elif line.strip():
            note = ""
        at += 1
    return found


def indented(text: str) -> list[str]:
    """Lines of what Markdown takes for a block, though it is none of those above."""
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    return re.findall(r"^(?: {4}|\t| *```| *~~~).*$", outside, re.M)


def all_blocks() -> list[Block]:
    return [block for page in PAGES for block in blocks(page)]


def headings(page: Path) -> set[str]:
    """Anchors, as forges and Sphinx make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.*)$", text, re.M)}

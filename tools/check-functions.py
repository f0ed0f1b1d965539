#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check-functions.py [--limit LINES]: complains about functions of C and C++ sources that are longer than LINES, from
the line of the name to the closing brace. A lambda counts as part of its function. It counts braces outside of
comments, strings and macros; it does not parse the language."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

MAX_LINES = 90  # of a function: two screens

TOKENS = re.compile(
    r'(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<!\w)'(?:\\.|[^'\\\n])+'|\s+)|(?P<word>\w[\w']*)|(?P<other>.)",
    re.S | re.M,
)
# What opens a scope that holds functions.
SCOPE = re.compile(r"(^|\s)(namespace|extern|class|struct|union|enum)(\s|$)")


def without_parentheses(words: str) -> str:
    """What stands between parentheses, and the sign of an operator, is left out."""
    words = re.sub(r"operator [^\w(]*", "operator ", words)
    while (shorter := re.sub(r"\( [^()]*\)|\(\)", "", words)) != words:
        words = shorter
    return words


def after_macro(head: list[tuple[int, str]], line: int, text: str) -> bool:
    """Whether the head is a macro with arguments, which has no semicolon, and the token begins the next line."""
    starts = head[-1][0] < line and head[-1][1] == ")" and len(head) > 1 and head[1][1] == "("
    return starts and head[0][1].isupper() and re.match(r"\w|\[", text) is not None


def functions(source: str) -> Iterator[tuple[int, int, str]]:
    """First and last line of each function, and its name."""
    line = 1
    head: list[tuple[int, str]] = []  # the tokens since the last statement of a scope, with their lines
    scopes = 0  # open scopes around
    depth = 0  # open braces within a function or an initialiser
    function: tuple[int, str] | None = None
    for token in TOKENS.finditer(source):
        text = token[0]
        if not token["skip"]:
            if depth:
                depth += (text == "{") - (text == "}")
                if not depth:
                    if function:
                        yield function[0], line, function[1]
                        head = []
                    function = None
            elif text == "{":
                words = " ".join(word for _, word in head)
                words = re.sub(r"(alignas|__attribute__) \( (\( )?[^()]*(\( [^()]*\) )?\) (\) )?", "", words)
                outside = re.sub(r"<[^<>]*>", "", words.split("(")[0])
                if not head or (SCOPE.search(outside) and "(" not in words):
                    scopes, head = scopes + 1, []
                else:
                    depth = 1
                    name = re.search(r"(operator [^\w(]*|[\w~:. ]+?) \(", words)
                    # An initialiser has no parentheses; a member initialiser `: a{1}` comes before the body.
                    body = name and "= " not in without_parentheses(words) and not (
                        re.search(r"\) (noexcept )?: ", words) and re.match(r"\w", head[-1][1])
                        and head[-1][1] not in ("noexcept", "const", "override")
                    )  # fmt: skip
                    if body:
                        function = (head[0][0], name[1].split(" ")[-1])
                    else:
                        head.append((line, "{}"))
            elif text == "}":
                scopes, head = scopes - 1, []
            elif text == ";":
                head = []
            elif head and after_macro(head, line, text):
                head = [(line, text)]
            elif text == ":" and head and head[-1][1] in ("public", "private", "protected"):
                head = []
            else:
                head.append((line, text))
        line += text.count("\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Functions that are too long.")
    parser.add_argument("--limit", type=int, default=MAX_LINES, help="lines of a function, at most")
    limit = parser.parse_args().limit
    root = Path(__file__).resolve().parent.parent
    listed = subprocess.run([root / "tools/sources.sh"], capture_output=True, text=True, check=True)
    wrong = 0
    for name in listed.stdout.splitlines():
        for first, last, function in functions((root / name).read_text(encoding="utf-8")):
            if last - first + 1 > limit:
                print(f"{name}:{first}: {function}: {last - first + 1} lines, at most {limit}: split it")
                wrong += 1
    if wrong:
        print(f"check-functions: {wrong} functions are too long")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

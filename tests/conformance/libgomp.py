# SPDX-License-Identifier: BSD-3-Clause
"""libgomp's tests in C, C++ and Fortran: `{ dg-... }` directives, without DejaGnu. OpenACC's are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from shlex import quote

from case import COMPILERS, FOLDER, LAUNCH, Case, compiler_for, first_folder, sources

NAME = "libgomp"
TITLE = "libgomp"
ADDRESS = "https://github.com/gcc-mirror/gcc"
PARTS = ("libgomp", "include")

FOLDERS = {
    "libgomp.c": ("c",),
    "libgomp.c++": ("c++",),
    "libgomp.c-c++-common": ("c", "c++"),
    "libgomp.fortran": ("fortran",),
}
TARGET = "x86_64-pc-linux-gnu"
HELD = {
    *("c", "c++", "lp64", "tls", "tls_runtime", "pthread", "fopenmp", "lto", "fpic", "shared", "alloca", "fd_truncate",
      "__float128"),
    *("size32plus", "sync_int_long", "sync_char_short", "cas_int", "cas_char", "vect_simd_clones", "avx_runtime"),
    *("large_long_double", "fortran_real_16"),
}
"""What a program may require, without those that need a device. A program that needs more is left out."""

Directive = tuple[str, list[str]]


def find(root: Path) -> Path | None:
    return first_folder(root, ("libgomp/testsuite", "testsuite", "."), "libgomp.c")


def cases(root: Path) -> Iterator[Case]:
    for folder, languages in FOLDERS.items():
        for path, name, _ in sources(root, root / folder):
            directives = list(read_directives(path.read_text(errors="replace")))
            if not is_run(directives):
                continue
            for language in languages:
                for family in COMPILERS:
                    if compiler := compiler_for(family, language):
                        shown = name if len(languages) == 1 else f"{name} ({language})"
                        yield case(root, path, shown, family, compiler, language, directives)


def case(root: Path, path: Path, name: str, family: str, compiler: str, language: str,
         directives: list[Directive]) -> Case:
    def said(directive: str) -> Iterator[list[str]]:
        return (words for what, words in directives if what == directive)

    options = next((words[0] for words in said("options") if words), "-O2")
    options = " ".join([options] + [words[0] for words in said("additional-options") if len(words) == 1
                                    or holds(words[1])])
    files = [path] + [path.parent / file for words in said("additional-sources") for file in words[0].split()]
    flags = f"-fopenmp {options} -I{quote(str(root.parent))} -I{quote(str(root.parent.parent / 'include'))}"
    if language == "fortran":
        flags += f" -J{FOLDER}"
    if language == "c++":
        flags += " -x c++"
    build = f"{compiler} {flags} {' '.join(quote(str(file)) for file in files)} -o {FOLDER}/program -lm"
    environment = {words[0]: words[1] for words in said("set-target-env-var") if len(words) > 1}
    return Case(
        NAME, name, family, (build,), (f"{LAUNCH} {FOLDER}/program",), environment,
        must_fail=any(said("shouldfail")), output="".join(words[0] for words in said("output")),
    )  # fmt: skip


def is_run(directives: list[Directive]) -> bool:
    """Whether the program is to be run, here, on a machine without a device."""
    for what, words in directives:
        if what == "do" and (words[0] != "run" or (len(words) > 1 and not holds(words[1]))):
            return False
        if what == "require-effective-target" and not holds(words[0]):
            return False
        if what == "skip-if" and holds(words[1]) and "-O2" not in "".join(words[3:4]):
            return False
    return True


def read_directives(text: str) -> Iterator[Directive]:
    for what, rest in re.findall(r"\{\s*dg-([\w-]+)\s*(.*)\}", text):
        words = list(tcl_words(rest))
        if words or what == "shouldfail":
            yield what, words


def tcl_words(text: str) -> Iterator[str]:
    """The words of a Tcl command. Backslashes have a meaning inside quotation marks and none inside braces."""
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
        elif text[position] == '"':
            match = re.compile(r'"((?:[^"\\]|\\.)*)"').match(text, position)
            if not match:
                return
            escapes = {"n": "\n", "r": "\r", "t": "\t"}
            yield re.sub(r"\\(.)", lambda escape: escapes.get(escape[1], escape[1]), match[1])
            position = match.end()
        elif text[position] == "{":
            end, depth = position, 0
            while end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
                if depth == 0:
                    break
            yield text[position + 1 : end - 1].strip()
            position = end
        else:
            end = position
            while end < len(text) and not text[end].isspace():
                end += 1
            yield text[position:end]
            position = end


def holds(selector: str) -> bool:
    """A selector of DejaGnu: names of targets and abilities, with `!`, `&&`, `||` and braces. Names in a row are
    alternatives."""
    result = ""
    for token in re.findall(r"&&|\|\||[{}!]|[^\s{}!]+", re.sub(r"^\s*(target|xfail)\b", "", selector)):
        joins = {"&&": " and ", "||": " or ", "{": "(", "}": ")", "!": " not "}
        if token in joins:
            if token in "{!" and result.endswith(("e", ")")):
                result += " or "
            result += joins[token]
        else:
            result += " or " if result.endswith(("e", ")")) else ""
            result += str(token in HELD or ("-" in token and fnmatchcase(TARGET, token.strip('"')))).lower()
    return bool(eval(result or "false", {"true": True, "false": False}))  # only the words above

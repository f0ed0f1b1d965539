#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check-prose.py [--root DIR]: finds words that Steelyard's texts must not use.

The words, and what to write instead, stand in tools/vocabulary.txt. Three kinds of text are read:
  docs      README.md and its neighbours, docs/**/*.md: outside of code blocks and inline code
  messages  string literals of src/ and python/steelyard/ that are sentences, option help among them, and the
            descriptions of schema/*.json
  comments  those of public headers, Fortran modules, and all sources
A sentence of more than 35 words is a warning.

Exit status: 0 without findings, 1 with findings, 2 if the vocabulary cannot be read. Needs Python 3.9 and nothing else.
"""

from __future__ import annotations

import argparse
import ast
import bisect
import io
import json
import re
import sys
import tokenize
from pathlib import Path
from typing import Iterator, NamedTuple

VOCABULARY = "tools/vocabulary.txt"
SCOPES = ("docs", "messages", "comments")
MAX_WORDS = 35  # a sentence; the house rule is 25, and this leaves room for lists of names
ROOT_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


# ------------------------------------------------------------------------------------------------------- vocabulary


class VocabularyError(Exception):
    """Says in which line."""


class Rule(NamedTuple):
    pattern: re.Pattern
    instead: str
    scopes: tuple[str, ...]
    exceptions: list[re.Pattern]

    def matches(self, text: str) -> Iterator[re.Match]:
        allowed = [match.span() for exception in self.exceptions for match in exception.finditer(text)]
        for match in self.pattern.finditer(text):
            if not any(start <= match.start() and match.end() <= end for start, end in allowed):
                yield match


def phrase_pattern(phrase: str) -> str:
    """Of words, in which * stands for the rest of a word and a blank for any number of blanks."""
    words = [re.escape(word).replace(r"\*", r"[\w-]*") for word in phrase.split()]
    return r"(?<![\w-])" + " +".join(words) + r"(?![\w-])"


def compiled(words: str, where: str) -> re.Pattern:
    words = words.strip()
    try:
        if len(words) > 2 and words.startswith("/") and words.endswith("/"):
            return re.compile(words[1:-1], re.IGNORECASE)
        phrases = [phrase for phrase in map(str.strip, words.split(",")) if phrase]
        if not phrases:
            raise VocabularyError(f"{where}: no words")
        return re.compile("|".join(map(phrase_pattern, phrases)), re.IGNORECASE)
    except re.error as problem:
        raise VocabularyError(f"{where}: {problem}") from None


def read_vocabulary(path: Path) -> list[Rule]:
    rules: list[Rule] = []
    scopes = SCOPES
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path}:{number}"
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[(.*)\]", line):
            scopes = tuple(scope.strip() for scope in heading.group(1).split(","))
            if unknown := set(scopes) - set(SCOPES):
                raise VocabularyError(f"{where}: {', '.join(unknown)}: the kinds of text are {', '.join(SCOPES)}")
        elif line.startswith("except:"):
            if not rules:
                raise VocabularyError(f"{where}: an exception without words before it")
            rules[-1].exceptions.append(compiled(line[len("except:") :], where))
        elif " -> " in line:
            words, instead = line.split(" -> ", 1)
            rules.append(Rule(compiled(words, where), instead.strip(), scopes, []))
        else:
            raise VocabularyError(f"{where}: neither `words -> instead` nor `except: words` nor `[kinds of text]`")
    return rules


# ------------------------------------------------------------------------------------------------------------ texts


class Text:
    """A paragraph, a message or a comment, and the lines that it stands in."""

    def __init__(self, scope: str):
        self.scope, self.string = scope, ""
        self._starts: list[int] = []
        self._lines: list[int] = []

    def add(self, line: int, words: str) -> Text:
        self._starts.append(len(self.string))
        self._lines.append(line)
        self.string += words
        return self

    def line(self, offset: int) -> int:
        return self._lines[bisect.bisect_right(self._starts, offset) - 1]


def hide(match: re.Match) -> str:
    """Replaces a name by as many letters, which no rule matches. Options keep their dashes: rules may ask for those."""
    name = match.group(0)
    quoted = name[0] == "`" and len(name) > 2
    shown = "--" if name.strip("`").startswith("--") else ""
    body = "x" * (len(name) - len(shown) - (2 if quoted else 0))
    return f"`{shown}{body}`" if quoted else shown + body


# Code, options, links, paths, and names with an underscore, parentheses or the suffix of a file.
NAMES = re.compile(
    r"`+[^`]*`+|(?<![\w-])--\w[\w-]*(?:=[^\s,;)]*)?|\b[a-z]+://\S+|(?<=\]\()[^)\s]+(?=\))"
    r"|[\w.{}~]*/[\w./{}*-]+|\w*_\w*(?:\(\))?|\b\w+\(\)|\b[\w-]+\.(?:h|hpp|c|cpp|py|md|json|f90|cmake|sh|txt|toml)\b"
)


def without_names(string: str) -> str:
    return re.sub(r"\s", " ", NAMES.sub(hide, string))


def paragraphs(numbered: list[tuple[int, str]], scope: str) -> Iterator[Text]:
    """Of lines; an empty line, a list item, a heading and a row of a table end what was before."""
    text = Text(scope)
    for number, line in [*numbered, (0, "")]:
        starts = r"\s*([-*+]|\d+\.|[|#>]|@\w+(?:\[[a-z,]+\])?|\\\w+)(\s|$)"
        begins = re.match(starts, line) or line.lstrip().startswith("|")
        if not line.strip() or begins:
            if text.string:
                yield text
            text = Text(scope)
        if line.lstrip().startswith("|"):
            for cell in line.strip().strip("|").split("|"):
                yield Text(scope).add(number, cell.strip())
        elif line.strip():
            text.add(number, line.strip() + " ")


def markdown(source: str) -> Iterator[Text]:
    source = re.sub(r"<!--.*?-->", lambda comment: "\n" * comment.group(0).count("\n"), source, flags=re.S)
    numbered, fence = [], ""
    for number, line in enumerate(source.split("\n"), 1):
        if mark := re.match(r"\s*(```+|~~~+)", line):
            fence = "" if fence and mark.group(1).startswith(fence) else fence or mark.group(1)
            numbered.append((number, ""))
        else:
            numbered.append((number, "" if fence else line))
    # Inline code may go over the end of a line, so names are hidden in the paragraph.
    return paragraphs(numbered, "docs")


# What a C or C++ file is made of, as far as it matters here; digits may be separated by '.
TOKENS = re.compile(
    r'(?P<block>/\*.*?\*/)|(?P<line>//[^\n]*)|(?P<raw>R"(?P<mark>[^(\s]*)\((?P<rawtext>.*?)\)(?P=mark)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")|\'(?:\\.|[^\'\\\n])+\'|\b\d[\d\'.]*|(?P<space>\s+)|(?P<other>\w+|.)',
    re.S,
)
ESCAPES = {r"\n": " ", r"\t": " ", r"\"": '"', r"\\": "\\"}


def is_sentence(string: str) -> bool:
    """Three words or more; names and keys are not texts."""
    return len(re.findall(r"[A-Za-z][a-z]*(?=[\s,.;:]|$)", string)) >= 3 and " " in string.strip()


def c_messages(source: str) -> Iterator[Text]:
    """String literals; those that stand side by side are one."""
    text, line, include = Text("messages"), 1, False
    for token in TOKENS.finditer(source):
        if token["string"] or token["raw"]:
            if not include:
                body = (
                    token["rawtext"]
                    if token["raw"]
                    else re.sub(r"\\.", lambda e: ESCAPES.get(e[0], e[0]), token["string"][1:-1])
                )
                for offset, part in enumerate(body.split("\n")) if token["raw"] else [(0, body)]:
                    text.add(line + offset, part + ("\n" if token["raw"] else ""))
        elif token["other"]:
            if is_sentence(text.string):
                yield text
            text = Text("messages")
            include = token["other"] == "include" or (include and token["other"] in "<")
        line += token[0].count("\n")
    if is_sentence(text.string):
        yield text


def comment_lines(first: int, lines: list[str]) -> list[tuple[int, str]]:
    """The words of comments, without what marks them, and without the code of examples, which is indented."""
    mark = r"^\s*(/\*+<?|\*/|\*|//[/!]*<?|![!>]?)? ?"
    bare = [re.sub(mark, "", re.sub(r"\s*\*/\s*$", "", line), count=1) for line in lines]
    return [
        (first + i, "" if line.startswith("    ") or re.match(r"-{4,}|SPDX-", line) else line)
        for i, line in enumerate(bare)
    ]


def c_comments(source: str) -> Iterator[Text]:
    line, after = 1, 0
    pending: list[tuple[int, str]] = []
    for token in TOKENS.finditer(source):
        if token["block"] or token["line"]:
            if token["block"] or line > after + 1:
                yield from paragraphs(pending, "comments")
                pending = []
            pending += comment_lines(line, token[0].split("\n"))
            after = line + token[0].count("\n")
        elif token["other"]:
            yield from paragraphs(pending, "comments")
            pending = []
        line += token[0].count("\n")
    yield from paragraphs(pending, "comments")


def fortran_comments(source: str) -> Iterator[Text]:
    numbered = []
    for number, line in enumerate(source.split("\n"), 1):
        comment = re.search(r"^(?:[^'\"!]|'[^']*'|\"[^\"]*\")*?(!(?!\$).*)", line)
        numbered += comment_lines(number, [comment.group(1)]) if comment else [(number, "")]
    return paragraphs(numbered, "comments")


def hash_comments(source: str) -> Iterator[Text]:
    """Of shell, CMake and Makefiles: whole lines and ends of lines, not those within quotes."""
    numbered = []
    for number, line in enumerate(source.split("\n"), 1):
        comment = re.match(r"(?:[^'\"#]|'[^']*'|\"(?:\\.|[^\"\\])*\"|(?<=[^\s])#)*?(?<!\S)# (.*)", line)
        numbered.append((number, comment.group(1) if comment and not line.startswith("#!") else ""))
    return paragraphs(numbered, "comments")


def python_comments(source: str) -> Iterator[Text]:
    """Comments and docstrings."""
    numbered = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            if token.start[0] != last + 1:
                numbered.append((token.start[0], ""))
            numbered.append((token.start[0], token.string.lstrip("#").strip()))
            last = token.start[0]
    yield from paragraphs(numbered, "comments")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            first = node.body[0]
            lines = first.value.value.split("\n")
            yield from paragraphs([(first.lineno + i, line) for i, line in enumerate(lines)], "comments")


def python_messages(source: str) -> Iterator[Text]:
    """String literals, docstrings among them. The parts of an f-string are one text."""
    tree = ast.parse(source)
    parts = {
        id(value)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for value in ast.walk(node)
        if value is not node
    }
    for node in ast.walk(tree):
        if id(node) in parts:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            string = node.value
        elif isinstance(node, ast.JoinedStr):
            string = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        else:
            continue
        if is_sentence(string):
            lines = string.split("\n")
            if len(lines) == node.end_lineno - node.lineno + 1:  # a docstring, or another with line ends of its own
                yield from paragraphs([(node.lineno + i, line) for i, line in enumerate(lines)], "messages")
            else:
                yield Text("messages").add(node.lineno, string)


def schema_messages(source: str) -> Iterator[Text]:
    for number, line in enumerate(source.split("\n"), 1):
        if found := re.match(r'\s*"description": ("(?:\\.|[^"\\])*")', line):
            yield Text("messages").add(number, json.loads(found.group(1)))


COMMENTS = {
    ".c": c_comments, ".cpp": c_comments, ".h": c_comments, ".hpp": c_comments, ".js": c_comments, ".css": c_comments,
    ".f90": fortran_comments, ".F90": fortran_comments, ".inc": fortran_comments, ".py": python_comments,
    ".sh": hash_comments, ".txt": hash_comments, ".cmake": hash_comments,
}  # fmt: skip
FOLDERS = ("bench", "cmake", "examples", "fortran", "include", "python", "sim", "src", "tests", "tools")


def sources(root: Path) -> Iterator[Path]:
    """Those of which the comments are read."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root)
            if path.suffix == ".txt" and path.name != "CMakeLists.txt" or path.suffix not in COMMENTS:
                continue
            if "__pycache__" in name.parts:
                continue
            if name.parts[:2] != ("python", "build"):
                yield path


def readers(root: Path) -> Iterator[tuple[Path, object]]:
    """Each file, and what reads it."""
    yield from ((root / page, markdown) for page in ROOT_PAGES if (root / page).exists())
    yield from ((path, markdown) for path in sorted(root.glob("docs/**/*.md")))
    code = sorted(root.glob("src/**/*.cpp")) + sorted(root.glob("src/**/*.h"))
    yield from (
        (path, c_messages)
        for path in code
        if not re.search(r"_(test|benchmark)\.cpp$|/test_support\.h$", path.as_posix())
    )
    yield from ((path, python_messages) for path in sorted(root.glob("python/steelyard/*.py")))
    yield from ((path, schema_messages) for path in sorted(root.glob("schema/*.json")))
    yield from ((path, COMMENTS[path.suffix]) for path in sources(root))


# --------------------------------------------------------------------------------------------------------- findings


class Finding(NamedTuple):
    line: int
    words: str
    instead: str


def sentences(string: str) -> Iterator[tuple[int, str]]:
    """Where each begins, and the sentence. In lists of values, `off: never` is a sentence, too."""
    start = 0
    for end in re.finditer(r"[.!?][)\"'`]*\s+(?=[A-Z`\"(\[*-]|[a-z][\w-]*: )", string):
        yield start, string[start : end.end()]
        start = end.end()
    yield start, string[start:]


def look_through(texts: Iterator[Text], rules: list[Rule]) -> tuple[list[Finding], list[Finding]]:
    """Errors and warnings."""
    errors, warnings = [], []
    for text in texts:
        string = without_names(text.string)
        for rule in rules:
            if text.scope in rule.scopes:
                for match in rule.matches(string):
                    errors.append(Finding(text.line(match.start()), " ".join(match.group(0).split()), rule.instead))
        for start, sentence in sentences(string):
            words = len(re.findall(r"\w[\w'’-]*", sentence))
            if words > MAX_WORDS:
                warnings.append(Finding(text.line(start), f"a sentence of {words} words", "two sentences"))
    return sorted(set(errors)), sorted(set(warnings))


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Words that Steelyard's texts must not use, and what to write instead."
    )
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="the project")
    given = parser.parse_args()
    root = given.root
    try:
        rules = read_vocabulary(root / VOCABULARY)
    except (VocabularyError, OSError) as problem:
        print(f"check-prose: {problem}", file=sys.stderr)
        return 2
    found: dict[str, tuple[list[Finding], list[Finding]]] = {}
    for path, reader in readers(root):
        errors, warnings = look_through(reader(path.read_text(encoding="utf-8")), rules)
        if errors or warnings:
            before = found.get(name := path.relative_to(root).as_posix(), ([], []))
            # A docstring is a message and a comment.
            found[name] = (sorted({*before[0], *errors}), sorted({*before[1], *warnings}))
    count = warned = 0
    for name, (errors, warnings) in found.items():
        for finding in errors:
            print(f"{name}:{finding.line}: {finding.words} -> {finding.instead}")
        for finding in warnings:
            print(f"{name}:{finding.line}: warning: {finding.words} -> {finding.instead}")
        count, warned = count + len(errors), warned + len(warnings)
    if count or warned:
        print(f"check-prose: {count} words to replace, {warned} long sentences (no error)")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())

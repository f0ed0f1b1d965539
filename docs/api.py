# SPDX-License-Identifier: BSD-3-Clause
"""Reference pages from the comments of the public headers and Fortran modules. A comment is Doxygen's: a text, and
@param, @return, @retval, @throws, @pre and @note, which become lists. In C it is /** ... */, in C++ /// ..., in Fortran
!> ..., continued by !!.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

NAMES = re.compile(r"(?<![\w/`])(?:steelyard(?:_\w+|::\w+)(?:\(\))?|STEELYARD_\w+|MPI_\w+|omp_\w+)(?!\w|\.f90|\.h|`)")
HEADINGS = {"param": "Parameters", "return": "Returns", "retval": "Errors", "throws": "Throws", "pre": "Requires",
            "note": "Called"}
TAG = re.compile(r"@(param(?:\[out\])?|return|retval|throws|pre|note) ?(.*)")


@dataclass
class Item:
    """Declarations that stand together, with the comment above them."""

    comment: str
    code: list[str]
    names: list[str]
    section: str = ""  # heading that begins here
    members: list[tuple[str, str]] = field(default_factory=list)  # of a struct or an enum: names, meaning


# ------------------------------------------------------------------------------------------------------------- comments

def prose(text: str, language: str = "c") -> list[str]:
    """A text as Markdown: names in code type, indented lines as code, the rest as it reads."""
    out, code = [], []

    def end_of_code() -> None:
        if code:
            out.extend([f"```{language}", *"\n".join(code).rstrip().split("\n"), "```", ""])
            code.clear()

    for line in [*text.split("\n"), ""]:
        if line.startswith("    ") or (code and not line.strip()):
            code.append(line[4:])
            continue
        end_of_code()
        if line.startswith("- ") and out and out[-1] and not out[-1].startswith(("- ", "  ")):
            out.append("")
        out.append(words(line))
    end_of_code()
    return out


def words(line: str) -> str:
    pieces = re.split(r"(`[^`]*`)", line)
    for i in range(0, len(pieces), 2):
        plain = re.sub(r"([\\*_<>\[\]#|])", r"\\\1", pieces[i])
        pieces[i] = NAMES.sub(lambda name: f"`{name[0]}`", re.sub(r"\\_", "_", plain))
    return "".join(pieces)


def described(comment: str, language: str) -> list[str]:
    """The text of a comment and its tags."""
    text, tags = [], []
    for line in comment.split("\n"):
        if tag := TAG.match(line):
            tags.append([tag[1], tag[2].strip()])
        elif tags:
            tags[-1][1] += " " + line.strip()
        else:
            text.append(line)
    out = [*prose("\n".join(text).strip(), language), ""]
    for kind, heading in HEADINGS.items():
        found = [(name, content) for name, content in tags if name.split("[")[0] == kind]
        if not found:
            continue
        out += (
            [f"**{heading}**", ""]
            if kind in ("param", "retval")
            else [f"**{heading}:** {words(' '.join(text for _, text in found))}", ""]
        )
        if kind in ("param", "retval"):
            for name, content in found:
                what, _, meaning = content.partition(" ")
                out += [f"`{what}`{' (out)' if '[out]' in name else ''}", f": {words(meaning.strip())}", ""]
    return out


def page(intro: str, items: list[Item], language: str, level: int) -> list[str]:
    out = [*prose(intro, language), ""]
    depth = "#" * level
    for item in items:
        if item.section:
            out += [f"{'#' * level} {item.section[0].upper()}{item.section[1:]}", ""]
            depth = "#" * (level + 1)
        out += [f"{depth} {', '.join(f'`{name}`' for name in dict.fromkeys(item.names)) or 'Constants'}", ""]
        out += [f"```{language}", *item.code, "```", "", *described(item.comment, language)]
        for name, meaning in item.members:
            out += [f"`{name}`", f": {words(meaning)}", ""]
    return out


# -------------------------------------------------------------------------------------------------------------------- C

def uncommented(text: str) -> str:
    """The words of a block comment, without its stars."""
    lines = re.sub(r"^/\*\*<? ?|\s*\*/$", "", text.strip()).split("\n")
    return "\n".join([lines[0].strip(), *(re.sub(r"^\s*\*? ?", "", line, count=1) for line in lines[1:])]).strip("\n")


def declaration(lines: list[str], start: int) -> int:
    """The line after the declaration, or the macro, that begins at `start`."""
    at = start
    if lines[at].startswith("#define"):
        while lines[at].endswith("\\") or (at + 1 < len(lines) and lines[at + 1].startswith("#define")):
            at += 1
        return at + 1
    depth = 0
    text = ""
    while at < len(lines):
        text += lines[at] + "\n"
        plain = re.sub(r"/\*.*?(\*/|\Z)", "", text, flags=re.S)
        depth = sum(plain.count(c) for c in "{(") - sum(plain.count(c) for c in "})")
        at += 1
        if depth <= 0 and "/*" not in re.sub(r"/\*.*?\*/", "", text, flags=re.S) and re.search(r"[;}]\s*$", plain):
            break
    return at


def declared(code: str) -> list[str]:
    """The names of functions, types and macros."""
    functions = re.findall(r"(\w+)\((?!\*)[^;{]*\)\s*(?=;)", code)
    types = re.findall(r"^(?:}|typedef (?!.*[({]).*) (\w+);|^typedef .*\(\*(\w+)\)", code, re.M)
    macros = re.findall(r"^#define (STEELYARD_\w+)", code, re.M)
    if code.startswith("enum {"):
        return re.findall(r"[{\s](STEELYARD_\w+) =", code)
    return [a or b for a, b in types] + [name for name in functions if name.startswith(("steelyard", "omp_"))] + macros


def members_of(code: str) -> list[tuple[str, str]]:
    """The members of a struct or an enum, with their comments."""
    body = re.search(r"\{(.*)\}", code, re.S)
    if not body or "(" in code.split("{")[0]:
        return []
    found, comment, text = [], "", ""
    depth = 0
    for part in re.split(r"(/\*.*?\*/|[{};,])", body[1], flags=re.S):
        if part.startswith("/**<") and not text.strip():  # of the member before it
            found[-1] = (found[-1][0], uncommented(part))
            continue
        if part.startswith("/*"):
            comment = uncommented(part)
            continue
        depth += (part == "{") - (part == "}")
        text += part if not depth or part == "}" else ""
        separator = ";" if "struct" in code.split("{")[0] else ","
        if part == separator and not depth and not (separator == ";" and "(" in text and ")" not in text):
            names = re.findall(r"\*?(\w+)(?:\[\d+\])?\s*(?:=[^,]*)?(?=[,;]|$)", text.split("}")[-1].rstrip(";, \n"))
            function = re.search(r"\(\*(\w+)\)", text)
            name = function[1] if function else ", ".join(names)
            found.append((name, comment))
            comment = text = ""
    if text.strip():
        found.append((re.findall(r"\w+", text)[0], comment))
    return [(name, " ".join(meaning.split())) for name, meaning in found if meaning]


def read_c(path: Path) -> tuple[str, list[Item]]:
    """What the header says of itself, and its items in order, without those for other languages."""
    lines = path.read_text().split("\n")
    intro, items, section, comment = "", [], "", ""
    at = 0
    while at < len(lines):
        line = lines[at]
        if rule := re.fullmatch(r"/\* -+ ([^-].*?) -* *\*/", line):
            section = rule[1]
            if section.startswith("for "):
                break
            at += 1
        elif line.startswith("/**"):
            end = at
            while "*/" not in lines[end]:
                end += 1
            text = uncommented("\n".join(lines[at:end + 1]))
            if "@file" in text:
                intro = text.replace("@file", "", 1).strip("\n")
            else:
                comment = text
            at = end + 1
        elif comment and line.strip():
            end = declaration(lines, at)
            text = "\n".join(lines[at:end])
            code = re.sub(r"[ \t]*/\*\*.*?\*/[ \t]*\n?",
                          lambda found: "\n" if found[0].endswith("\n") and "**<" in found[0] else "", text, flags=re.S)
            if without := re.match(r"STEELYARD_API |static inline ", code):  # and the lines that are aligned to it
                code = re.sub(rf"^ {{{without.end()}}}", "", code[without.end():], flags=re.M)
            code = re.sub(r"\n\s*struct \{.*?\} internal;", "\n  ... internal;", code, flags=re.S)
            items.append(Item(comment, code.split("\n"), declared(code), section, members_of(text)))
            section = comment = ""
            at = end
        else:
            at += 1
    return intro, items


# ------------------------------------------------------------------------------------------------------ C++ and Fortran

def comment_at(lines: list[str], at: int, marks: str) -> tuple[str, int]:
    """The comment that begins at a line, and the line after it."""
    found = []
    while at < len(lines) and (line := re.match(rf"\s*(?:{marks})(?!<) ?(.*)", lines[at])):
        found.append(line[1])
        at += 1
    return "\n".join(found), at


def dedented(code: list[str]) -> list[str]:
    margin = min((len(line) - len(line.lstrip()) for line in code if line.strip()), default=0)
    return [line[margin:] for line in code]


def read_cpp(path: Path) -> tuple[str, list[Item]]:
    """Classes with their members, and functions; nothing of namespace detail."""
    lines = path.read_text().split("\n")
    intro, items, owners = "", [], []
    at = hidden = 0
    while at < len(lines):
        line = lines[at]
        if re.match(r"namespace detail", line):
            hidden = 1
        elif re.match(r"}  // namespace detail", line):
            hidden = 0
        elif re.match(r"\s*private:", line) and owners:
            hidden = 2
        elif closing := re.match(r"(\s*)};", line):
            if owners and owners[-1][1] == len(closing[1]):
                owners.pop()
                hidden = 0 if hidden == 2 else hidden
        if hidden or not re.match(r"\s*///(?!<)", line):
            at += 1
            continue
        comment, at = comment_at(lines, at, "///")
        if comment.startswith("@file"):
            intro = comment.replace("@file", "", 1).strip("\n")
            continue
        code = []
        while at < len(lines):
            code.append(lines[at])
            at += 1
            text = "\n".join(code)
            ended = re.search(r"[{;]\s*$|\{.*\}\s*(?:///<.*)?$|\)$(?=\n*\s*:)", text)
            if text.count("(") == text.count(")") and ended and not text.rstrip().endswith(">"):
                break
        text = "\n".join(code)
        kind = re.search(r"^\s*(?:template <.*>\n)?\s*(class|struct|enum class) (\w+)", text)
        if kind:
            indent = len(code[-1]) - len(code[-1].lstrip())
            name = "::".join([*(owner for owner, _ in owners), kind[2]])
            end = lines.index(" " * indent + "};", at)
            if kind[1] != "class" and "(" not in "".join(lines[at:end]):  # data alone
                code, at = [*code, *lines[at:end + 1]], end + 1
            else:
                owners.append((kind[2], indent))
                code = re.sub(r"\s*\{$", ";", text).split("\n")
        else:
            text = re.sub(r"\)(\s*(?:const|noexcept)*)\s*:\s.*", r")\1;", text, flags=re.S)
            text = re.sub(r"\s*[{;].*", ";", text, flags=re.S)
            found = re.search(r"(~?\w+)\(", text.split("= ")[0] if "operator" not in text else text)
            name = "::".join([*(owner for owner, _ in owners), found[1] if found else ""])
            code = text.split("\n")
        items.append(Item(comment, dedented(code), [f"steelyard::{name}"]))
    return intro, items


def read_fortran(path: Path) -> tuple[str, list[Item]]:
    """Public types, constants and procedures."""
    lines = path.read_text().split("\n")
    intro, items = "", []
    at = 0
    while at < len(lines):
        if not re.match(r"\s*!>", lines[at]):
            at += 1
            continue
        first = re.sub(r"^\s*!> ?", "", lines[at])
        rest, at = comment_at(lines, at + 1, "!!")
        comment = f"{first}\n{rest}".strip("\n")
        if lines[at].startswith("module"):
            intro = comment
            continue
        code = [lines[at]]
        procedure = re.match(r"\s*(?:\w+\(\w+\) )?(?:subroutine|function) (\w+)", lines[at])
        block = re.match(r"\s*(?:type(?:, bind\(c\))? :: (\w+)|enum, bind)", lines[at])
        while code[-1].rstrip().endswith("&"):
            at += 1
            code.append(lines[at])
        at += 1
        if procedure:
            code[-1] = re.sub(r" &?\s*bind\(c.*?\)", "", "\n".join(code))
            code = code[-1].split("\n")
            arguments = re.findall(r"\w+", re.search(r"\((.*?)\)", "\n".join(code).split(procedure[1], 1)[1] or "()",
                                                     re.S)[1])
            while at < len(lines) and re.match(r"\s*(import|integer|real|logical|character|type\(|procedure\()",
                                               lines[at]):
                declares = lines[at].partition("::")[2]
                if set(re.findall(r"\w+", declares)) & set(arguments):
                    code.append(lines[at].replace(", intent(in)", ", intent(in)"))
                at += 1
        elif block:
            while not re.match(r"\s*end (type|enum)", code[-1]):
                code.append(lines[at])
                at += 1
        names = (
            [procedure[1]]
            if procedure
            else [block[1]] if block and block[1] else re.findall(r"STEELYARD_\w+(?= =)", "\n".join(code))
        )
        items.append(Item(comment, dedented(code), names))
    return intro, items


READERS = {".h": (read_c, "c"), ".hpp": (read_cpp, "cpp"), ".f90": (read_fortran, "fortran")}


def header_page(path: Path) -> list[str]:
    """The page of a header; of a module or a C++ header, a section of it."""
    read, language = READERS[path.suffix]
    intro, items = read(path)
    return page(intro, items, language, 2 if language == "c" else 3)

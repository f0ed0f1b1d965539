"""Blocks that are written from what they are about, so that the reference cannot drift:

    ```{header} include/steelyard/phases.h   the comments and declarations of a public header
    ```{options}                             the option table, as `steelyard options` prints it
    ```{schema} schema/run-record.schema.json   the members of the run record
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version() -> str:
    """Of the project, from the one place that says it."""
    return re.search(r"project\(steelyard VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


# ---------------------------------------------------------------------------------------------------------- headers

NAMES = re.compile(r"(?<![\w/])(?:steelyard_\w+(?:\(\))?|STEELYARD_\w+|MPI_\w+|omp_\w+)(?!\w|\.f90|\.h)")


@dataclass
class Item:
    """Declarations that stand together, with the comment above them."""

    comment: str
    code: list[str] = field(default_factory=list)
    section: str = ""  # heading that begins here

    @property
    def names(self) -> list[str]:
        """What is declared: functions, types, macros."""
        text = re.sub(r"/\*.*?\*/", "", "\n".join(self.code), flags=re.S)
        functions = re.findall(r"(\w+)\((?!\*)[^;{]*\)\s*(?=;)", text)
        types = re.findall(r"^(?:}|typedef (?!.*[({]).*) (\w+);|^typedef .*\(\*(\w+)\)", text, re.M)
        macros = re.findall(r"^#define (STEELYARD_\w+)", text, re.M)
        return [a or b for a, b in types] + [name for name in functions if name.startswith(("steelyard", "omp_"))] + macros


def uncommented(text: str) -> str:
    """The words of a block comment, without its stars."""
    lines = text.strip().removeprefix("/*").removesuffix("*/").split("\n")
    return "\n".join(re.sub(r"^ ?\*? ?", "", line, count=1) if i else line.strip() for i, line in enumerate(lines)).strip("\n")


def declaration(lines: list[str], start: int) -> int:
    """The line after the declaration that begins at `start`."""
    depth, at = 0, start
    while at < len(lines):
        line = re.sub(r"/\*.*?\*/|//.*", "", lines[at])
        depth += line.count("{") + line.count("(") - line.count("}") - line.count(")")
        at += 1
        if depth <= 0 and re.search(r"[;}]\s*$", line):
            break
    return at


def read_header(path: Path) -> tuple[str, list[Item]]:
    """What the header says of itself, and its items in order."""
    lines = path.read_text().split("\n")
    intro, items, section, comment = "", [], "", ""
    at = 0
    while at < len(lines):
        line = lines[at]
        if "SPDX-License-Identifier" in line:
            at += 1
            continue
        if line.startswith("/*"):
            end = at
            while "*/" not in lines[end]:
                end += 1
            text = "\n".join(lines[at:end + 1])
            at = end + 1
            if rule := re.fullmatch(r"/\* -+ ([^-].*?) -* *\*/", text):
                section = rule.group(1)
                if section.startswith("for "):  # what other languages are built on
                    break
            elif not intro:
                intro = uncommented(text)
            else:
                comment = uncommented(text)
            continue
        if line.startswith("#define STEELYARD_") and line.endswith("DEFAULT {" + line.split("{", 1)[-1]) and items:
            items[-1].code.append(line)
        if not line.strip() or line.startswith(("#", "extern", "}")):
            comment = ""
            at += 1
            continue
        end = declaration(lines, at)
        code = lines[at:end]
        if "{" in code[0] + (code[1] if len(code) > 1 else "") and ") {" in "\n".join(code):  # a function with its body
            code = ["\n".join(code).split(" {", 1)[0] + ";"] if comment else []
        if code and (comment or not items or not lines[at - 1].strip()):
            items.append(Item(comment, code, section))
            section = ""
        elif code:
            items[-1].code += code
        comment = ""
        at = end
    return intro, items


def prose(text: str) -> list[str]:
    """A comment as Markdown: names in code type, indented lines as code, the rest as it reads."""
    def escaped(words: str) -> str:
        pieces = re.split(r"(`[^`]*`)", words)
        for i in range(0, len(pieces), 2):
            plain = re.sub(r"([\\*_<>\[\]#|])", r"\\\1", pieces[i])
            pieces[i] = NAMES.sub(lambda name: f"`{name[0]}`", re.sub(r"\\_", "_", plain))
        return "".join(pieces)

    out, code = [], []
    for line in [*text.split("\n"), ""]:
        if line.startswith("    "):
            code.append(line[4:])
            continue
        if code and not line.strip():
            code.append("")
            continue
        if code:
            out += ["```c", *"\n".join(code).rstrip().split("\n"), "```", ""]
            code = []
        out.append(escaped(line))
    return out + (["```c", *"\n".join(code).rstrip().split("\n"), "```"] if code else [])


def header_page(path: Path) -> list[str]:
    intro, items = read_header(path)
    out = [*prose(intro), ""]
    level = "##"
    for item in items:
        if item.section:
            out += [f"## {item.section[0].upper()}{item.section[1:]}", ""]
            level = "###"
        names = item.names or ["constants"]
        out += [f"{level} {', '.join(f'`{name}`' for name in dict.fromkeys(names))}", ""]
        out += ["```c", *[line.replace("STEELYARD_API ", "") for line in item.code], "```", ""]
        out += [*prose(item.comment), ""]
    return out


# ---------------------------------------------------------------------------------------------------------- options

def build() -> Path:
    return Path(os.environ.get("STEELYARD_BUILD", ROOT / "build"))


def options_page() -> list[str]:
    command = build() / "bin" / "steelyard"
    try:
        text = subprocess.run([command, "options"], capture_output=True, text=True, check=True).stdout
    except OSError as error:
        raise SystemExit(f"the option table is printed by {command}: {error.strerror}; run `make docs`, or set STEELYARD_BUILD")
    head, *groups = text.split("\n\n")
    out = [" ".join(head.split()), ""]
    for group in groups:
        # A row that is too long for a line goes on in the next, indented as its beginning is.
        title, *rows = re.sub(r"(?m)^(  --.*[^\]])\n +(?=\S*\]$)", r"\1 ", group.rstrip()).split("\n")
        out += [f"## {title}", ""]
        for row in rows:
            if option := re.fullmatch(r"  --([a-z0-9-]+)=(.*) \[(.*)\]", row):
                name, values, default = option.groups()
                variable = "STEELYARD_" + name.upper().replace("-", "_")
                out += ["", f"`--{name}={values}`", f": *Default: {default}. Variable: `{variable}`.*", ""]
            else:
                assert not row.startswith("  --"), f"a row that is not understood: {row}"
                out += ["  " + row.strip()]
        out.append("")
    return out


# ----------------------------------------------------------------------------------------------------------- schema

def kind(member: dict) -> str:
    if reference := member.get("$ref"):
        return f"[{reference.rsplit('/', 1)[-1]}](#{reference.rsplit('/', 1)[-1]})"
    if "const" in member:
        return f"`{json.dumps(member['const'])}`"
    if "enum" in member:
        return " or ".join(f"`{value}`" if value else "empty" for value in member["enum"])
    if member.get("type") == "array":
        return "list of " + kind(member["items"])
    if member.get("type") == "object" and isinstance(member.get("additionalProperties"), dict):
        return "object of " + kind(member["additionalProperties"])
    return str(member.get("type", "anything"))


def schema_page(path: Path) -> list[str]:
    schema = json.loads(path.read_text())
    out = [schema["description"], ""]
    for name, part in [("the record", schema), *schema["$defs"].items()]:
        if part.get("type") != "object":
            continue
        out += [f"## {name}", "", part.get("description", ""), "", "| member | type | meaning |", "|---|---|---|"]
        for member, what in part.get("properties", {}).items():
            optional = "" if member in part.get("required", []) else " *(may be left out)*"
            target = schema["$defs"].get(what.get("$ref", "").rpartition("/")[2], {})
            meaning = what.get("description", target.get("description", "").split(". ")[0]).replace("|", "\\|").replace("*", "\\*")
            out.append(f"| `{member}` | {kind(what)} | {meaning}{optional} |")
        out.append("")
    return out


# ------------------------------------------------------------------------------------------------------- into pages

WRITERS = {"header": header_page, "options": options_page, "schema": schema_page}
BLOCK = re.compile(r"^```\{(\w+)\} ?(\S*)\n```$", re.M)


def write_blocks(app, document: str, source: list[str]):
    """Puts what is written in the place of each block, before the page is parsed."""
    def written(block: re.Match) -> str:
        name, argument = block.groups()
        if name not in WRITERS:
            return block[0]
        app.env.note_dependency(str(ROOT / argument), docname=document)
        return "\n".join(WRITERS[name](ROOT / argument) if argument else WRITERS[name]())

    source[0] = BLOCK.sub(written, source[0])


def words_alone(app, doctree, document):
    """A man page has no links to its neighbours: their words stay."""
    if app.builder.name != "man":
        return
    from docutils import nodes
    for node in list(doctree.findall(nodes.reference)):
        if not node.get("refuri", "").startswith("http"):
            node.replace_self(node.children)


def setup(app):
    app.connect("source-read", write_blocks)
    app.connect("doctree-resolved", words_alone, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

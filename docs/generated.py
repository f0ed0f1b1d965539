# SPDX-License-Identifier: BSD-3-Clause
"""Blocks that are written from what they are about, so that the reference cannot drift:

    ```{header} include/steelyard/phases.h   the comments and declarations of a public header or Fortran module: api.py
    ```{options}                             the option table, as `steelyard options` prints it
    ```{schema} schema/run-record.schema.json   the members of the run record
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from api import header_page

ROOT = Path(__file__).resolve().parent.parent


def version() -> str:
    """Of the project, from the one place that says it."""
    return re.search(r"project\(steelyard VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


# ---------------------------------------------------------------------------------------------------------- options

def build() -> Path:
    return Path(os.environ.get("STEELYARD_BUILD", ROOT / "build"))


def options_page() -> list[str]:
    command = build() / "bin" / "steelyard"
    try:
        text = subprocess.run([command, "options"], capture_output=True, text=True, check=True).stdout
    except OSError as error:
        raise SystemExit(f"the option table is printed by {command}: {error.strerror}; run `make docs`, or set "
                         "STEELYARD_BUILD")
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
            meaning = (
                what.get("description", target.get("description", "").split(". ")[0])
                .replace("|", "\\|")
                .replace("*", "\\*")
            )
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

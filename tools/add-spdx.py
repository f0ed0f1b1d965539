#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""add-spdx.py: puts the licence line at the head of each source of the project that lacks it, below a #! line. A source
that has it is left alone."""

import subprocess
from pathlib import Path

TEXT = "SPDX-License-Identifier: BSD-3-Clause"
root = Path(__file__).resolve().parent.parent


def comment(name: str) -> str:
    """The licence line as a comment in the language of this file. A header that C programs include has a C comment."""
    suffix = Path(name).suffix
    if suffix in (".cpp", ".hpp", ".js") or (suffix == ".h" and name.startswith("src/")):
        return f"// {TEXT}"
    if suffix in (".c", ".h", ".map", ".css"):
        return f"/* {TEXT} */"
    if suffix in (".f90", ".F90", ".inc"):
        return f"! {TEXT}"
    if suffix == ".j2":
        return "{#- " + TEXT + " -#}"
    return f"# {TEXT}"


listed = subprocess.run([root / "tools/sources.sh", "all"], capture_output=True, text=True, check=True)
for name in listed.stdout.splitlines():
    path = root / name
    lines = path.read_text(encoding="utf-8").split("\n")
    if not any(TEXT in line for line in lines[:2]):
        lines.insert(1 if lines[0].startswith(("#!", "#%")) else 0, comment(name))
        path.write_text("\n".join(lines), encoding="utf-8")
        print(f"add-spdx: {name}")

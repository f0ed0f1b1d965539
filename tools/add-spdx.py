#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""add-spdx.py [--check]: adds the licence line at the head of each source of the project that lacks it, below a #!
line. With --check, it changes nothing and lists these sources; exit status 1 if there are any."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

TEXT = "SPDX-License-Identifier: BSD-3-Clause"
LINE = re.compile(rf"(//|/\*|#|!|\{{#-?) {TEXT}( \*/| -?#\}})?")


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


def main() -> int:
    parser = argparse.ArgumentParser(description="Adds the licence line to sources that lack it.")
    parser.add_argument("--check", action="store_true", help="only list these sources")
    check = parser.parse_args().check
    root = Path(__file__).resolve().parent.parent
    listed = subprocess.run([root / "tools/sources.sh", "all"], capture_output=True, text=True, check=True)
    missing = 0
    for name in listed.stdout.splitlines():
        path = root / name
        lines = path.read_text(encoding="utf-8").split("\n")
        if any(LINE.fullmatch(line) for line in lines[:2]):
            continue
        missing += 1
        if check:
            print(f"  {name}")
        else:
            lines.insert(1 if lines[0].startswith(("#!", "#%")) else 0, comment(name))
            path.write_text("\n".join(lines), encoding="utf-8")
            print(f"add-spdx: {name}")
    if check and missing:
        print(f"add-spdx: the files above lack the comment `{TEXT}` at their head")
        print("To add it: tools/add-spdx.py")
    return 1 if check and missing else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check-length.py: complains about lines beyond the formatter's limit, in every language, and about files of
more than 600 lines: a file is one concept. Scripts and styles of the HTML report are left out."""

import re
import subprocess
import sys
from pathlib import Path

MAX_LINES = 600  # of a file
PAGE = (".js", ".css", ".j2")

root = Path(__file__).resolve().parent.parent
columns = int(re.search(r"^ColumnLimit: (\d+)", (root / ".clang-format").read_text(), re.M).group(1))
listed = subprocess.run([root / "tools/sources.sh", "all"], capture_output=True, text=True, check=True)
wrong = 0
for name in listed.stdout.splitlines():
    if name.endswith(PAGE):
        continue
    lines = (root / name).read_text(encoding="utf-8").splitlines()
    if len(lines) > MAX_LINES:
        print(f"{name}: {len(lines)} lines, at most {MAX_LINES}: split it")
        wrong += 1
    for number, line in enumerate(lines, 1):
        if len(line) > columns:
            print(f"{name}:{number}: {len(line)} columns, at most {columns}")
            wrong += 1
if wrong:
    print(f"check-length: {wrong} lines and files are too long")
sys.exit(1 if wrong else 0)

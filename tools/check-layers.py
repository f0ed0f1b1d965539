#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check-layers.py: complains about includes in src/ that the layers forbid.

The table of "Layers" in docs/architecture.md gives each folder its layer; it is read from there. A file includes from
its own layer or a lower one. A capability, which the table calls so, includes no other capability. Below layer 4, where
the entry points are, no file includes mpi.h. Each folder of src/ has a row."""

from __future__ import annotations

import re
import sys
from pathlib import Path

MPI_LAYER = 4  # the lowest that speaks MPI

root = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| (\d+) \| `src/(\w+)` \| (capability:)?", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)

rows = ROW.findall((root / "docs/architecture.md").read_text(encoding="utf-8"))
if not rows:
    sys.exit("check-layers: docs/architecture.md has no table of layers")
layers = {folder: int(layer) for layer, folder, _ in rows}
capabilities = {folder for _, folder, capability in rows if capability}
wrong = []


def complaint(folder: str, included: str) -> str | None:
    """Why a file of the folder must not include this."""
    if included == "mpi.h":
        return f"mpi.h below layer {MPI_LAYER}" if layers[folder] < MPI_LAYER else None
    other = included.split("/")[0]
    if "/" not in included or other not in layers or other == folder:
        return None
    if layers[other] > layers[folder]:
        return f"{included}: src/{folder} is in layer {layers[folder]}, src/{other} in layer {layers[other]}"
    if {folder, other} <= capabilities:
        return f"{included}: a capability includes another"
    return None


for folder in sorted(path.name for path in (root / "src").iterdir() if path.is_dir()):
    if folder not in layers:
        wrong.append(f"src/{folder}: not in the table of layers of docs/architecture.md")
        continue
    for path in sorted((root / "src" / folder).rglob("*.*")):
        if path.suffix not in (".h", ".cpp", ".c"):
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            if why := complaint(folder, match[1]):
                line = text.count("\n", 0, match.start(1)) + 1
                wrong.append(f"{path.relative_to(root)}:{line}: {why}")
for _, folder, _ in rows:
    if not (root / "src" / folder).is_dir():
        wrong.append(f"docs/architecture.md: the table of layers names src/{folder}, which does not exist")
if wrong:
    print("\n".join(wrong))
    print(f"check-layers: {len(wrong)} violations of the table of layers in docs/architecture.md")
sys.exit(1 if wrong else 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare_standard_abi.py HEADER: src/intercept/mpi/standard_abi/mpi.h declares what an MPI's header declares."""

from __future__ import annotations

import re
import sys
from pathlib import Path

OURS = Path(__file__).resolve().parents[2] / "src" / "intercept" / "mpi" / "standard_abi" / "mpi.h"


def read(path: Path) -> dict[str, str]:
    """Constants, types of functions, and members of MPI_Status, without blanks and names of parameters."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"STEELYARD_MPI\((\w+),\s*\((.*?)\)\);", r"int MPI_\1(\2);", text, flags=re.DOTALL)
    text = re.sub(r"using (\w+) = int\(", r"typedef int (\1)(", text)
    found = dict(re.findall(r"\b(MPI_\w+)\s*=\s*([-\w]+)\s*[,}\n]", text))
    found |= dict(re.findall(r"#define (MPI_\w+)[ \t]+(\S[^\n]*)", text))
    for name, parameters in re.findall(r"\bint \(?(MPI_\w+)\)?\s*\(([^;]*)\)\s*;", text):
        types = [re.sub(r"\w+(\[\]|)$", r"\1", one.strip()) for one in parameters.split(",")]
        found[name] = ",".join(types)
    found["MPI_Status"] = ";".join(re.search(r"struct[^{}]*\{([^{}]*MPI_SOURCE[^{}]*)\}", text)[1].split(";"))
    return {name: re.sub(r"\s", "", value) for name, value in found.items()}


def main() -> None:
    ours, theirs = read(OURS), read(Path(sys.argv[1]))
    differences = [f"{name}: {value}" for name, value in ours.items() if theirs.get(name) != value]
    assert len(ours) > 200, "the header was not understood"
    if differences:
        sys.exit(f"{OURS} is not as {sys.argv[1]}:\n" + "\n".join(differences))
    print(f"{len(ours)} names of the standard's ABI are as in {sys.argv[1]}")


main()

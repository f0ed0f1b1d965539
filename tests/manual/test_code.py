# SPDX-License-Identifier: BSD-3-Clause
"""Code in the manual is compiled, by the compilers of the first MPI that is here; Python is run by test_commands.py."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from manual import ROOT, all_blocks, blocks

FLAVOUR = os.environ.get("STEELYARD_MPIRUN", "openmpi=").split("=")[0]
HERE = Path(__file__).parent
LANGUAGES = {
    "c": (".c", [f"mpicc.{FLAVOUR}", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused"]),
    "cpp": (".cpp", [f"mpicxx.{FLAVOUR}", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused",
                     "-DOMPI_SKIP_MPICXX",
                     "-DMPICH_SKIP_MPICXX"]),
    "fortran": (".f90", [f"mpifort.{FLAVOUR}", "-std=f2018", "-Wall", "-Werror", "-Wno-unused",
                         "-Wno-unused-dummy-argument",
                         "-Wno-unused-function"]),
}


def sources() -> dict[str, str]:
    """The blocks of a page in one language, put where the file around them says @BLOCK@; or a whole program."""
    files = {}
    for block in all_blocks():
        if block.language not in LANGUAGES:
            continue
        extension, _ = LANGUAGES[block.language]
        if block.note.startswith("file:"):
            files[f"{block.page.stem}.whole{extension}"] = block.text
            continue
        name = block.page.stem + extension
        around = HERE / "around" / f"{name}.in"
        assert around.exists(), f"{block}: there is no {around.relative_to(ROOT)} to compile it in"
        text = files.get(name, around.read_text())
        assert "@BLOCK@" in text, f"{block}: {around.relative_to(ROOT)} has one @BLOCK@ too few"
        files[name] = text.replace("@BLOCK@", block.text, 1)
    return files


@pytest.mark.parametrize("name", sources())
def test_code_compiles(name, tmp_path):
    text = sources()[name]
    assert "@BLOCK@" not in text, f"around/{name}.in waits for a block that the page has no more"
    file = tmp_path / name
    file.write_text(text)
    compiler = next(words for extension, words in LANGUAGES.values() if extension == file.suffix)
    modules = ["-I", str(Path(os.environ["STEELYARD_BUILD"]) / "fortran")]
    result = subprocess.run([*compiler, "-fopenmp", "-fsyntax-only", "-I", str(ROOT / "include"), "-I",
                             str(ROOT / "fortran"), *modules,
                             str(file)], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, f"{name}:\n{result.stderr}"


def test_the_program_of_the_tutorial_is_the_example():
    program = next(block for block in blocks(ROOT / "docs" / "tutorial.md") if block.note == "file: cells.c")
    licence, _, text = (ROOT / "examples" / "cells.c").read_text().partition("\n")
    assert "SPDX" in licence and program.text == text


def test_code_is_found():
    assert {"loops.c", "loops.cpp", "loops.f90", "phases.c", "regions.c", "regions.cpp",
            "regions.f90", "tasks.c", "tasks.cpp",
            "tutorial.whole.c"} <= set(sources())
    assert all(re.search(r"steelyard|MPI", text) for text in sources().values())

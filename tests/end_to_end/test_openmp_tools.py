# SPDX-License-Identifier: BSD-3-Clause
"""A process has room for one OpenMP tool. That of the program or of its user takes precedence over Steelyard."""

import json
import subprocess

import pytest

from harness import BUILD, COMMAND, environment

FOLDER = BUILD / "tests" / "end_to_end"
TOOL = FOLDER / "libompt_tool.so"
PROGRAM = FOLDER / "run_schedules.plain.clang"


def run(*words, **changes):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment(**changes))


@pytest.mark.skipif(not TOOL.exists() or not PROGRAM.exists(), reason="needs clang")
@pytest.mark.parametrize("variable", ["OMP_TOOL_LIBRARIES", "LD_PRELOAD"])
def test_the_tool_is_used_as_without_steelyard(variable):
    changes = {variable: str(TOOL)}
    assert "the tool is used" in run(PROGRAM, **changes).stdout
    measured = run(COMMAND, "run", "--record=none", PROGRAM, **changes)
    assert "the tool is used" in measured.stdout
    assert "has an OpenMP tool of its own" in measured.stderr


@pytest.mark.skipif(not PROGRAM.exists(), reason="needs clang")
def test_a_tool_that_does_not_exist_hides_nothing(tmp_path):
    record = tmp_path / "run.json"
    measured = run(COMMAND, "run", f"--record={record}", PROGRAM, OMP_TOOL_LIBRARIES="/nowhere/tool.so")
    assert "OMP_TOOL_LIBRARIES names /nowhere/tool.so, which cannot be read" in measured.stderr
    assert "has an OpenMP tool of its own" not in measured.stderr
    assert any(rank["totals_ns"]["regions"] for rank in json.loads(record.read_text())["ranks"])


@pytest.mark.skipif(not PROGRAM.exists(), reason="needs clang")
def test_without_a_tool_nothing_is_said():
    assert "OpenMP tool" not in run(COMMAND, "run", "--record=none", PROGRAM).stderr

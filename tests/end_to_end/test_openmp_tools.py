# SPDX-License-Identifier: BSD-3-Clause
"""A process has room for one OpenMP tool. That of the program or of its user takes precedence over Steelyard."""

import json
import subprocess

import pytest
import steelyard
from steelyard.shares import measures_threads

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
    assert f"OpenMP not measured: {TOOL} uses OMPT" in measured.stderr


@pytest.mark.skipif(not TOOL.exists(), reason="needs clang")
@pytest.mark.parametrize("threads", [1, 2])
def test_no_openmp_efficiency_is_shown_beside_a_tool(mpi, threads):
    result = mpi.run(2, "unbalanced.clang", "--steps=3", "--work=4", OMP_TOOL_LIBRARIES=str(TOOL),
                     OMP_NUM_THREADS=str(threads))
    (header,) = result.header_lines
    assert ", OpenMP not measured, 1 node" in header
    assert f"OpenMP is not measured, and no thread counts change: {TOOL} uses OMPT" in result.summary
    assert "x OpenMP" not in result.summary and "no OpenMP runtime" not in result.summary
    assert result.record["openmp_tool"] == str(TOOL)
    assert not measures_threads(steelyard.load(result.record_file))


@pytest.mark.skipif(not TOOL.exists() or not PROGRAM.exists(), reason="needs clang")
@pytest.mark.parametrize("variable", ["OMP_TOOL_LIBRARIES", "LD_PRELOAD"])
def test_a_tool_that_declines_hides_nothing(variable, tmp_path):
    record = tmp_path / "run.json"
    measured = run(COMMAND, "run", f"--record={record}", PROGRAM, TOOL_DECLINES="1", **{variable: str(TOOL)})
    assert measured.stdout.count("the tool declines") == 1
    assert "OpenMP not measured" not in measured.stderr
    assert any(rank["totals_ns"]["regions"] for rank in json.loads(record.read_text())["ranks"])


@pytest.mark.skipif(not TOOL.exists() or not PROGRAM.exists(), reason="needs clang")
def test_the_first_tool_that_accepts_is_used():
    """A file that does not exist, and a library without a tool, are passed over."""
    listed = f"/nowhere/tool.so:{FOLDER / 'libaccelerator.so'}:{TOOL}"
    measured = run(COMMAND, "run", "--record=none", PROGRAM, OMP_TOOL_LIBRARIES=listed)
    assert measured.stdout.count("the tool is used") == 1
    assert f"{TOOL} uses OMPT" in measured.stderr


@pytest.mark.skipif(not PROGRAM.exists(), reason="needs clang")
def test_a_tool_that_does_not_exist_hides_nothing(tmp_path):
    record = tmp_path / "run.json"
    measured = run(COMMAND, "run", f"--record={record}", PROGRAM, OMP_TOOL_LIBRARIES="/nowhere/tool.so")
    assert "OMP_TOOL_LIBRARIES names /nowhere/tool.so, which cannot be read" in measured.stderr
    assert "OpenMP not measured" not in measured.stderr
    assert any(rank["totals_ns"]["regions"] for rank in json.loads(record.read_text())["ranks"])


@pytest.mark.skipif(not PROGRAM.exists(), reason="needs clang")
def test_without_a_tool_nothing_is_said():
    assert "OpenMP tool" not in run(COMMAND, "run", "--record=none", PROGRAM).stderr

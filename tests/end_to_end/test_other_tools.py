# SPDX-License-Identifier: BSD-3-Clause
"""Tools that wrap MPI, and sanitizers, in the same process: both measure, in whichever order the user has put them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness import COMMAND, check_measured, steelyard_command

PROGRAM = "unbalanced.gcc"
# One rank computes nearly all: what else the machine does cannot make up for it.
SHORT = ("--steps=10", "--work=10", "--imbalance=95")


def tool(mpi, name: str) -> str:
    return str(mpi.program(f"{name}.gcc"))


def counted(result) -> str:
    """What the tool has printed."""
    assert result.status == 0, result.explain()
    (line,) = [line for line in result.out.splitlines() if line.startswith("tool: ")]
    return line


def check_both(mpi, alone, beside) -> None:
    """Steelyard has measured the waits of the rank with less work, and the tool has counted what it counts alone."""
    check_measured(beside)
    assert counted(alone) == counted(beside)
    longest = max(rank["totals_ns"]["mpi"] / rank["totals_ns"]["wall"] for rank in beside.record["ranks"])
    assert longest > 0.3, beside.explain()


def preloaded(mpi, libraries: list[str], with_steelyard: bool):
    """Under mpirun, whose own process has none of the libraries."""
    words = (mpi.measured if with_steelyard else mpi.job)(2, PROGRAM, *SHORT)
    return mpi.launch([*words[:2], "env", "LD_PRELOAD=" + ":".join(libraries), *words[2:]], OMP_NUM_THREADS="1")


def test_a_tool_that_wraps_mpi(mpi):
    tools = [tool(mpi, "mpi_tool")]
    beside = preloaded(mpi, tools, True)
    check_both(mpi, preloaded(mpi, tools, False), beside)
    assert "barrier 2" in counted(beside), "it wraps what the program calls"
    assert any("wraps MPI (it defines MPI_Init and calls PMPI_Init)" in line for line in beside.said), beside.explain()
    assert any("handles them when it passes them on" in line for line in beside.said)


def test_a_tool_that_takes_the_names_of_pmpi(mpi):
    """Darshan's way."""
    tools = [tool(mpi, "mpi_tool_renamed")]
    beside = preloaded(mpi, tools, True)
    check_both(mpi, preloaded(mpi, tools, False), beside)
    assert "init 2" in counted(beside)
    assert beside.said == [line for line in beside.said if "tool" not in line], beside.explain()


def test_both_at_once(mpi):
    tools = [tool(mpi, "mpi_tool_renamed"), tool(mpi, "mpi_tool")]
    check_measured(result := preloaded(mpi, tools, True))
    assert result.out.count("tool: init 2") == 2, result.explain()
    assert result.record["metrics"]["load_balance"] < 0.9


def test_a_tool_in_the_program(mpi):
    """Linked into the executable, as wrappers of compilers do."""
    alone = mpi.native(2, "with_mpi_tool.gcc", *SHORT, OMP_NUM_THREADS="1")
    beside = mpi.run(2, "with_mpi_tool.gcc", *SHORT, OMP_NUM_THREADS="1")
    check_both(mpi, alone, beside)


def test_a_tool_among_the_libraries_of_the_program(mpi, tmp_path):
    compiler = shutil.which(Path(mpi.mpirun).name.replace("mpirun", "mpicc"))
    if compiler is None:
        pytest.skip("no compiler wrapper of this name")
    shutil.copy(tool(mpi, "mpi_tool"), tmp_path / "libtool.so")
    program = tmp_path / "linked"
    subprocess.run([compiler, "-fopenmp", Path(__file__).parents[2] / "examples" / "unbalanced.c", "-o", program,
                    "-Wl,--no-as-needed", tmp_path / "libtool.so", "-lm"], check=True)
    job = ["-n", "2", str(program), *SHORT]
    alone = mpi.launch(job, OMP_NUM_THREADS="1")
    beside = mpi.launch([*job[:2], str(COMMAND), "run", f"--record={mpi.record_file}", *job[2:]], OMP_NUM_THREADS="1")
    check_both(mpi, alone, beside)


def test_the_doctor_names_tools(mpi):
    wraps, renames = tool(mpi, "mpi_tool"), tool(mpi, "mpi_tool_renamed")
    told = steelyard_command("doctor", str(mpi.program(PROGRAM)), LD_PRELOAD=f"{renames}:{wraps}").out
    assert f"tool: {wraps} wraps MPI" in told
    assert f"tool: {renames} defines MPI_Init and PMPI_Init, as Darshan does" in told
    order = [line for line in told.splitlines() if "LD_PRELOAD=" in line][0]
    assert order.index(wraps) < order.index("libsteelyard-preload") < order.index(renames)


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_sanitizers(mpi, sanitizer):
    """Their runtime must be the first library. That they find the program's own error shows that they work."""
    program = f"sanitized_{sanitizer}.gcc"
    try:
        mpi.program(program)
    except FileNotFoundError:
        pytest.skip("the compiler has no such sanitizer")
    found = {"address": "heap-buffer-overflow", "thread": "data race"}[sanitizer]
    options = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "report_signal_unsafe=0"}
    if mpi.native(1, program, **options).status != 0:
        pytest.skip("fails without Steelyard, too")
    right = mpi.run(1, program, **options)
    assert len(right.header_lines) == 1 and "the end" in right.out, right.explain()
    if sanitizer == "address":
        assert right.status == 0 and "ERROR" not in right.err, right.explain()
    assert len(right.summaries) == 1
    wrong = mpi.run(1, program, "wrong", **options)
    assert found in wrong.err and wrong.status != 0, wrong.explain()

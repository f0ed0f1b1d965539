# SPDX-License-Identifier: BSD-3-Clause
"""Loops that programs divide through steelyard/loops.h: told of like those of the compiler."""

import re

import pytest

from harness import check_measured
from test_steps import checksum

RANKS, STEPS, ROWS = 2, 20, 600


@pytest.mark.parametrize("program, executions", [
    ("triangle.clang", {"triangle": STEPS}),
    ("triangle.gcc", {"triangle": STEPS}),
    ("triangle.gfortran", {"triangle": STEPS}),
    ("triangle.clang++", {"advance": STEPS, "fill": 1, "triangle": 1}),
    ("triangle.g++", {"advance": STEPS, "fill": 1, "triangle": 1}),
])
def test_called_loops_are_in_the_record(mpi, program, executions):
    result = mpi.run(RANKS, program)
    check_measured(result)
    assert checksum(result) == checksum(mpi.native(RANKS, program))
    loops = {re.split("[.+:]", loop["site"])[0]: loop for loop in result.record["loops"]}
    assert {name: loop["executions"] for name, loop in loops.items()} == {n: RANKS * e for n, e in executions.items()}
    for loop in loops.values():
        assert loop["iterations"] == loop["executions"] * ROWS
        assert loop["ranks"] == RANKS and loop["threads"] == 2
        assert loop["strategy"] != "runtime" and loop["why"] and loop["time"] > 0
    # Steelyard's calls that divide loops query thread IDs, too: not the program.
    assert not any("thread IDs" in rank["fixed_reason"] for rank in result.record["ranks"]), result.explain()


# On a node with more cores than ranks, the code of each region is read.
@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++", "gfortran"])
def test_regions_of_called_loops_may_change_their_thread_count(mpi, compiler):
    result = mpi.run(RANKS, f"triangle.{compiler}", options=("--emulate=core:8 pu:1",))
    check_measured(result)
    assert "kept_regions" not in result.record and "kept their thread count" not in result.summary, result.summary

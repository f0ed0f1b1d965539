# SPDX-License-Identifier: BSD-3-Clause
"""Programs that say themselves where a step ends."""

import re

import pytest

from harness import EMULATED, check_measured


@pytest.mark.parametrize("program", ["stepped.clang", "stepped.gcc", "stepped.gfortran", "stepped.clang++"])
def test_steps_of_the_program(mpi, program):
    result = mpi.run(2, program)
    check_measured(result)
    native = mpi.native(2, program)
    assert checksum(result) == checksum(native)
    assert "inactive" in native.out or "steelyard run" in native.out, "says that nobody listens"
    assert "stepped: steps" in result.out.splitlines()[-1], "and nothing where somebody does"


def test_phases_come_from_the_program(mpi):
    result = mpi.run(3, "stepped.gcc", options=("--emulate=core:6 pu:1",), **EMULATED)
    check_measured(result)
    node = result.record["nodes"][0]
    assert node["phase_source"] == "steelyard_step"
    assert 10 <= node["phases"] <= 20


def test_program_prepared_for_sabo(mpi):
    result = mpi.run(3, "prepared.clang", options=("--emulate=core:6 pu:1",), **EMULATED)
    check_measured(result)
    assert result.out == mpi.native(3, "prepared.clang").out
    assert result.record["nodes"][0]["phase_source"] == "steelyard_step"


def checksum(result):
    assert result.status == 0, result.explain()
    return re.search(r"checksum (\d+)$", result.out, re.MULTILINE).group(1)

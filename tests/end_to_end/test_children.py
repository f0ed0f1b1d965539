# SPDX-License-Identifier: BSD-3-Clause
"""What a program starts has nothing of Steelyard in it."""

import pytest

from harness import check_measured


def variables(result):
    lines = [line.partition("=") for line in result.out.splitlines() if "=" in line]
    return {name: value for name, _, value in lines}


@pytest.mark.parametrize("when", [(), ("early",)])
@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_children_start_without_steelyard(mpi, compiler, when):
    result = mpi.run(1, f"children.{compiler}", *when)
    check_measured(result)
    environment = variables(result)
    assert "OMP_NUM_THREADS" in environment, "env was run"
    assert "LD_PRELOAD" not in environment
    assert not [name for name in environment if name.startswith("STEELYARD_INTERNAL")]


def test_children_keep_the_user_s_preload(mpi):
    result = mpi.run(1, "children.gcc", LD_PRELOAD="libm.so.6")
    check_measured(result)
    assert variables(result)["LD_PRELOAD"] == "libm.so.6"


def test_the_user_s_preload_is_in_the_program_too(mpi):
    result = mpi.run(1, "children.gcc", LD_PRELOAD="libdl.so.2 libm.so.6", options=("--verbose",))
    check_measured(result)
    (line,) = [line for line in result.said if "LD_PRELOAD=" in line]
    assert line.index("libsteelyard") < line.index("libdl.so.2") < line.index("libm.so.6")

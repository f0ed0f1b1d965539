# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose libraries share the node in phases."""

import pytest

from harness import EMULATED, check_measured
from test_steps import checksum


@pytest.mark.parametrize("program", ["coupled.clang", "coupled.gcc", "coupled.gfortran"])
def test_phases_keep_their_bindings(mpi, program):
    result = mpi.run(3, program, options=("--emulate=core:6 pu:1",), **EMULATED)
    check_measured(result)
    assert checksum(result) == checksum(mpi.native(3, program))
    assert any(rank["totals_ns"].get("quiesced", 0) > 0 for rank in result.record["ranks"])
    (phase,) = result.record["phases"]
    assert (phase["node"], phase["processes"], len(phase["configurations"])) == (0, 3, 1) and phase["runs"] == 10
    assert "of 3 processes with up to " in result.summary, "the summary says who worked"
    assert not any("phases" in remark for remark in result.record["remarks"]), "they keep no rank from getting cores"

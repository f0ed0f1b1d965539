# SPDX-License-Identifier: BSD-3-Clause
"""Regions so short that most executions are not measured: what is in them works, and all of them count."""

import re

import pytest

from harness import EMULATED, check_measured

STEPS, LOOPS = 100, 100
OTHERS = 6  # further regions of a step of programs/short_regions.c, nested ones not counted


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("threads", [("1",), ("2",), ("2", "1")])
@pytest.mark.parametrize("options", [(), ("--observe",)])
def test_short_regions(mpi, compiler, threads, options):
    """`threads`: of the environment, and those that the program sets."""
    variables = EMULATED | {"OMP_NUM_THREADS": threads[0]}
    result = mpi.run(2, f"short_regions.{compiler}", str(STEPS), str(LOOPS), *threads[1:], options=options, **variables)
    check_measured(result)
    loops = [float(seconds) for seconds in re.findall(r": ([0-9.]+) s in plain loops", result.out)]
    assert len(loops) == 2, result.explain()
    ranks = [rank["totals_ns"] for rank in result.record["ranks"]]
    for seconds, totals in zip(sorted(loops), sorted(ranks, key=lambda totals: totals["region_wall"])):
        assert totals["regions"] >= STEPS * (LOOPS + OTHERS), result.explain()
        # Most of it is in a few long executions.
        assert totals["region_wall"] * 1e-9 > 0.5 * seconds, result.explain()
        assert totals["wall"] == totals["serial"] + totals["region_wall"] + totals["mpi"], result.explain()

# SPDX-License-Identifier: BSD-3-Clause
"""What explicit tasks compute counts as computing, wherever a thread executes them; what the others wait does not."""

import pytest

from harness import run_without_mpi

# Tasks of programs/explicit_tasks.c. A tree has 6 inner tasks beside its 8 leaves; `nested` has one beside its two.
TASKS = {"barrier": 96, "taskwait": 96, "taskloop": 96, "tree": 168, "one": 12, "nested": 36}
RUNTIMES = [("gcc", ()), ("gcc", ("--openmp=llvm",)), ("clang", ())]


@pytest.mark.parametrize("how", TASKS)
@pytest.mark.parametrize("compiler, options", RUNTIMES)
def test_what_tasks_compute_is_useful(compiler, options, how, tmp_path):
    result = run_without_mpi(f"explicit_tasks.{compiler}", tmp_path, how, options=options, OMP_NUM_THREADS="2")
    assert result.status == 0, result.explain()
    spent = int(result.out.split()[0])
    (rank,) = result.record["ranks"]
    totals = rank["totals_ns"]
    assert totals.get("omp_tasks", 0) == TASKS[how]
    assert totals["region_useful"] > 0.95 * spent, result.summary
    if how == "one":
        assert totals["region_useful"] < 1.3 * spent, "the other thread has nothing to do"

# SPDX-License-Identifier: BSD-3-Clause
"""Task pools in programs whose cores move: `programs/pools.cpp`; pools of threads that are not OpenMP's."""

import re
import sys
from pathlib import Path

import pytest
from test_later_mpi import python_environment
from test_later_mpi import run as run_script

from harness import EMULATED, check_measured


def run(mpi, how, compiler, *arguments):
    result = mpi.run(2, f"pools.{compiler}", f"how={how}", *arguments, options=("--emulate=core:8 pu:1",),
                     **(EMULATED | {"OMP_NUM_THREADS": "4"}))
    check_measured(result)
    assert re.search(r"^refused 0$", result.out, re.MULTILINE), "no helper is one too many: " + result.explain()
    refusals = "one helper too many outside of regions, on each rank: " + result.explain()
    assert re.search(r"^one too many refused 2$", result.out, re.MULTILINE), refusals
    return result


def test_a_rank_gets_no_core_that_its_pool_cannot_use(mpi):
    """With one core more, rank 0 would compute faster. But the pool, in which most time is spent, would lose one."""
    result = run(mpi, "cpp", "g++", "steps=90", "solver=12", "tasks=24")
    assert not result.moves(), result.explain()
    assert result.threads_at_end == [4, 4]
    assert "which has no thread for one more core" in result.summary


@pytest.mark.parametrize("how, compiler", [("c", "g++"), ("own", "clang++")])
def test_a_larger_team_leaves_the_pool_as_it_was_made(mpi, how, compiler):
    """The region that computes is worth the core that the pool loses: rank 0 has more cores than options.threads.

    It is most of a step: what more cores do not shorten would make the gain fall short of the forecast.
    """
    result = run(mpi, how, compiler, "steps=50", "solver=96", "tasks=8")
    assert result.moves() and result.threads_at_end[0] > 4, result.explain()


def test_python_lends_and_acquires(mpi, tmp_path):
    script = Path(__file__).parent / "programs" / "python_cores.py"
    result = run_script(mpi, sys.executable, script, tmp_path, options=("--emulate=core:8 pu:1",),
                        **python_environment(mpi, tmp_path))
    check_measured(result)
    assert "rank 0: movable [4, 3, 7] [4, 'from the callback']" in result.out, result.explain()
    assert "rank 1: movable [4, 3, 1, 3, 4] []" in result.out, result.explain()
    late = "steelyard_cores_init() was called after MPI_Init, and has no effect"
    assert result.out.count(f"refused: {late}") == 2 and sum(late in line for line in result.said) == 2
    acquirer, lender = (rank["totals_ns"] for rank in result.record["ranks"])
    for rank, total, cores in ((0, acquirer["borrowed"], 3), (1, lender["lent_by_call"], 3)):
        begin, begun, end, ended = map(int, re.search(rf"rank {rank} clock \[(.*?)\]", result.out)[1].split(", "))
        assert cores * (end - begun) <= total <= cores * (ended - begin), (rank, result.explain())
    # In its waits, the rank lends the core that it has not lent yet; and the other keeps cores until its next call.
    most = max(lender["lent_by_call"] + 4 * lender["mpi"], acquirer["borrowed"])
    assert lender["lent_by_call"] <= lender["lent"] <= most
    assert re.search(r"lent \S+ core s, \S+ core s of it by calls of the program; \S+ core s of that were used by "
                     r"other ranks", result.summary), result.summary


def test_all_ranks_return_if_one_has_no_memory_for_a_pool(mpi):
    result = mpi.launch(mpi.job(3, "exhausted.gfortran"))
    assert result.status == 0, result.explain()
    other = "STEELYARD_ERROR_PEER: another rank cannot create the task pool, because of its threads or its memory"
    assert sorted(result.out.splitlines()) == [
        f"rank 0 {other}: see its message",
        "rank 1 STEELYARD_ERROR_OUT_OF_MEMORY: there is no memory for a task pool: free memory of this process",
        f"rank 2 {other}: see its message",
    ], result.explain()

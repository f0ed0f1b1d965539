# SPDX-License-Identifier: BSD-3-Clause
"""Static loops of gcc, divided among more threads than there are."""

import pytest

from harness import check_measured, run_without_mpi


def times(result) -> dict[str, int]:
    assert result.status == 0, result.explain()
    return {name: int(count) for name, count in (line.split() for line in result.out.splitlines())}


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("virtual", [1, 4, 64])
def test_each_thread_runs_several(virtual, threads, tmp_path):
    result = run_without_mpi("virtual_threads.gcc", tmp_path, options=(f"--virtual-threads={virtual}",),
                             OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false")
    check_measured(result)
    of_each = virtual * threads if threads > 1 else 1  # a single thread has no other to take chunks from
    assert times(result) == {"plain": of_each, "two_loops": of_each, "barrier": threads, "clause": 2, "by_id": threads,
                             "combined": 0, "two_at_one_place": 0, "old": 0}, result.explain()


@pytest.mark.parametrize("options", [(), ("--virtual-threads=4", "--thread-ids=keep")])
def test_none_unless_wanted(options, tmp_path):
    result = run_without_mpi("virtual_threads.gcc", tmp_path, options=options, OMP_NUM_THREADS="3")
    assert set(times(result).values()) == {0, 2, 3}, result.explain()


def test_says_why_there_are_none(mpi):
    result = mpi.run(2, "unbalanced.gcc", "--steps=20", options=("--virtual-threads=4",), OMP_NUM_THREADS="2")
    check_measured(result)
    assert ("--virtual-threads found no suitable region: the longest one with static loops of gcc, in run_region, "
            "calls clock_gettime()") in result.record["remarks"], result.explain()

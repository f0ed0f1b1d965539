# SPDX-License-Identifier: BSD-3-Clause
"""Where two capabilities meet, one takes precedence: the table of docs/concepts.md. Its other rules have tests in
test_pools.py, test_change_cores.py, test_regions.py and test_later_mpi.py."""

import re

from harness import EMULATED, check_measured


def run(mpi, what, *options, steps=30):
    """3 ranks of 2 threads on 6 cores."""
    result = mpi.run(3, "precedence.gcc", what, str(steps), options=("--emulate=core:6 pu:1", *options), **EMULATED)
    check_measured(result)
    largest, least, most = map(int, re.search(r"^loop (\d+) phase (\d+) (\d+)$", result.out, re.MULTILINE).groups())
    return result, largest, (least, most)


def totals(result, name):
    return [rank["totals_ns"].get(name, 0) for rank in result.record["ranks"]]


def test_a_phase_has_the_cores_that_it_asks_for_whoever_borrowed_them(mpi):
    result, largest, phase = run(mpi, "phase")
    assert totals(result, "borrowed")[0] > 0 and largest > 2, "between phases, cores are lent: " + result.explain()
    assert phase == (6, 6), result.explain()
    assert all(time > 0 for time in totals(result, "quiesced")[1:]), result.explain()


def test_a_rank_that_waits_in_a_pool_does_not_lend(mpi):
    """As it does where it waits in MPI: also while the pool is made, which is the shorter, the more steps follow."""
    (in_pool, *_), (in_barrier, *_) = (run(mpi, what, steps=100) for what in ("pool", "barrier"))
    for pool, barrier in zip(totals(in_pool, "lent")[1:], totals(in_barrier, "lent")[1:]):
        assert pool < barrier / 2, in_pool.explain() + in_barrier.explain()


def test_ranks_that_wait_for_a_late_broadcast_lend(mpi):
    result, largest, _ = run(mpi, "broadcast", "--collectives=on")
    assert sum(rank["broadcasts"]["shared"] for rank in result.record["ranks"]) > 0, result.explain()
    assert totals(result, "borrowed")[2] > 0 and largest > 2, result.explain()


def test_a_loop_in_a_team_that_grows_runs_each_iteration_once(mpi):
    """The program checks it. The same loop has strategies for each size of the team."""
    result, largest, _ = run(mpi, "phase", "--loops=auto")
    assert largest > 2 and result.status == 0, result.explain()
    assert any(loop["executions"] > 0 for loop in result.record["loops"]), result.explain()

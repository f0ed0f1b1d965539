# SPDX-License-Identifier: BSD-3-Clause
"""Cores of a rank that waits in MPI work for another: here, on the cores of this machine."""

import os
import re
import shutil

import pytest

from harness import check_measured

# One core each, three quarters of the work at rank 0.
ARGUMENTS = ("--steps=25", "--work=20", "--loads=3,1", "--regions=4")

needs_two_cores = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs 2 cores")


@needs_two_cores
@pytest.mark.parametrize("program", ["unbalanced.clang", "unbalanced.gcc"])
def test_the_core_of_a_waiting_rank_is_borrowed(mpi, program):
    result = mpi.run(2, program, *ARGUMENTS, OMP_NUM_THREADS="1")
    check_measured(result)
    heavy, light = (rank["totals_ns"] for rank in result.record["ranks"])
    assert heavy["borrowed"] > 0 and light["lent"] > 0, result.summary
    assert heavy["borrowed"] <= 1.01 * light["lent"], "nobody borrows more than was lent"
    assert not any("machine code" in remark for remark in result.record["remarks"]), "the few regions are analysed"
    lent = result.timeline.query("rank == 1")["lent"].sum()
    assert 0.5 * light["lent"] < 1e9 * lent <= 1.01 * light["lent"], "the timeline says when"
    assert "core s" in result.summary and " lent " in result.summary
    assert "estimated: with borrowed cores, regions of rank" in " ".join(result.summary.split())
    assert 0 < heavy["borrowing_wall"] <= heavy["region_wall"] and heavy["borrowing_own"] > 0
    assert sum(result.threads_at_end) == 2
    assert result.record["ranks"][0]["thread_ceiling"] == len(os.sched_getaffinity(0))


@needs_two_cores
@pytest.mark.parametrize("program", ["unbalanced.clang", "unbalanced.gcc"])
def test_a_core_that_comes_while_a_region_runs_works_in_it(mpi, program):
    # The light rank is done in the middle of the only region of the heavy one.
    result = mpi.run(2, program, "--steps=30", "--work=20", "--loads=3,1", "--regions=1", OMP_NUM_THREADS="1")
    check_measured(result)
    heavy, light = (rank["totals_ns"] for rank in result.record["ranks"])
    assert 0 < heavy["came_late"] <= heavy["borrowed"] <= 1.01 * light["lent"], result.summary


@needs_two_cores
def test_regions_that_there_is_no_time_to_analyse_are_told(mpi):
    result = mpi.run(2, "many_regions.gcc", OMP_NUM_THREADS="1")
    check_measured(result)
    said = "regions kept their thread count until their machine code was analysed"
    assert any(remark.startswith(said) for remark in result.record["remarks"]), result.explain()
    assert said in " ".join(result.summary.split()), result.explain()


@needs_two_cores
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_region_that_another_rank_analyses_has_time_for_it(mpi, threads):
    arguments = ("--steps=6", "--work=20", "--loads=3,1", "--regions=4")
    result = mpi.run(2, "unbalanced.gcc", *arguments, OMP_NUM_THREADS=threads)
    check_measured(result)
    assert not any("machine code" in remark for remark in result.record["remarks"]), result.explain()


def without_thread_count(mpi, ranks, program, *arguments):
    """As a user who sets nothing: OMP_NUM_THREADS is not set, and no rank is bound."""
    head, count, *rest = mpi.measured(ranks, program, *arguments)
    result = mpi.launch(["--bind-to", "none", head, count, "env", "-u", "OMP_NUM_THREADS", *rest])
    check_measured(result)
    return result


def on_two_cores(mpi, ranks, program, *arguments, threads=None):
    """Without `threads`, OMP_NUM_THREADS is not set."""
    taskset = shutil.which("taskset")
    if taskset is None:
        pytest.skip("taskset is not installed")
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    head, count, *rest = mpi.measured(ranks, program, *arguments)
    variable = ["-u", "OMP_NUM_THREADS"] if threads is None else [f"OMP_NUM_THREADS={threads}"]
    result = mpi.launch(["--bind-to", "none", head, count, "env", *variable, taskset, "-c", cpus, *rest])
    check_measured(result)
    return result


@needs_two_cores
@pytest.mark.parametrize("program", ["unbalanced.clang", "unbalanced.gcc"])
def test_ranks_without_a_thread_count_share_the_cores(mpi, program):
    result = without_thread_count(mpi, 2, program, *ARGUMENTS)
    cores = len(os.sched_getaffinity(0))
    assert sum(rank["threads_at_start"] for rank in result.record["ranks"]) == cores, result.explain()
    assert f"2 ranks x {(cores + 1) // 2} thread" in result.header_lines[0]
    assert "WARNING" not in result.summary or "threads for" not in result.summary, "the ranks are not too many"
    assert "OMP_NUM_THREADS is not set" not in result.summary, "no region keeps the runtime's count"


@needs_two_cores
@pytest.mark.parametrize("program", ["unbalanced.clang", "unbalanced.gcc"])
def test_ranks_without_a_thread_count_borrow(mpi, program):
    # Natively, each rank runs a thread on every core. With as many ranks as cores, each owns one.
    result = on_two_cores(mpi, 2, program, "--steps=30", "--work=20", "--loads=3,1", "--regions=1")
    assert result.record["ranks"][0]["totals_ns"]["borrowed"] > 0, result.summary


@needs_two_cores
def test_a_team_that_keeps_its_threads_beyond_its_cores_borrows_nothing(mpi):
    result = without_thread_count(mpi, 2, "constrained.gcc", "divide", "20")
    assert [rank["totals_ns"]["borrowed"] for rank in result.record["ranks"]] == [0, 0], result.explain()


def test_more_ranks_than_cores_are_told_so(mpi):
    cores = len(os.sched_getaffinity(0))
    result = without_thread_count(mpi, cores + 1, "unbalanced.gcc", "--steps=3", "--work=4")
    said = f"more ranks than cores: {cores + 1} ranks share {cores} core"
    assert "lending off (more ranks than cores)" in result.header_lines[0], result.explain()
    assert said in " ".join(result.summary.split()), result.explain()


def four_ranks_on_two_cores(mpi, program, *arguments):
    """Once three of the four wait, one of the two cores is free."""
    return on_two_cores(mpi, 4, program, *arguments, threads="1")


@needs_two_cores
@pytest.mark.parametrize("program", ["unbalanced.clang", "unbalanced.gcc"])
def test_more_ranks_than_cores_lend_while_a_core_idles(mpi, program):
    result = four_ranks_on_two_cores(mpi, program, "--steps=25", "--work=20", "--loads=9,1,1,1", "--regions=8")
    heavy, *light = (rank["totals_ns"] for rank in result.record["ranks"])
    assert heavy["borrowed"] > 0.1 * heavy["wall"], result.summary
    assert all(heavy["borrowed"] > 5 * rank["borrowed"] for rank in light), result.summary
    assert not result.moves() and result.threads_at_end == [1] * 4
    assert "more ranks than cores" in result.record["nodes"][0]["nothing_moved"], "cores do not move"
    assert result.record["nodes"][0]["oversubscribed"] == "ranks"
    assert set(result.timeline["threads"]) <= {1, 2}
    assert " lent " in result.summary and "lending on" in result.header_lines[0], result.explain()
    assert "of lending: not known" in result.summary, "nor is how long a region takes on a core that others use"


@needs_two_cores
@pytest.mark.parametrize("program", ["unbalanced.clang", "unbalanced.gcc"])
def test_with_more_ranks_than_cores_a_thread_joins_late(mpi, program):
    # The only region of a step begins in all ranks at once: no core is idle then.
    result = four_ranks_on_two_cores(mpi, program, "--steps=40", "--work=20", "--loads=9,1,1,1", "--regions=1")
    heavy, *light = (rank["totals_ns"] for rank in result.record["ranks"])
    assert 0 < heavy["came_late"] <= heavy["borrowed"], result.summary
    assert all(heavy["borrowed"] > 5 * rank["borrowed"] for rank in light), result.summary


@needs_two_cores
def test_with_more_threads_than_cores_a_rank_that_waits_long_sleeps(mpi):
    """If it polled, even with yields, it would take time slices from the threads of the other rank."""
    result = on_two_cores(mpi, 2, "unbalanced.gcc", "--steps=12", "--work=60", "--loads=9,1", "--collective=allreduce",
                          threads="2")
    waiting = result.record["ranks"][1]
    in_mpi, computing = (waiting["totals_ns"][name] * 1e-9 for name in ("mpi", "region_useful"))
    assert result.record["nodes"][0]["oversubscribed"] == "threads" and in_mpi > 0.4 * result.record["wall"]
    assert waiting["cpu"] < computing + 0.3 * in_mpi, result.explain()


@needs_two_cores
def test_a_core_that_other_processes_use_is_not_borrowed_for_long(mpi):
    def run(busy, *options):
        words = mpi.measured(2, "starved.clang", str(busy), options=options)
        result = mpi.launch(["--bind-to", "core", *words], OMP_NUM_THREADS="1")
        check_measured(result)
        return result

    def stopped(result):
        return any("rank 0: stopped borrowing cores" in remark for remark in result.record["remarks"])

    free = run(0)
    heavy, light = (rank["totals_ns"] for rank in free.record["ranks"])
    assert 0 < heavy["borrowed"] < 1.01 * light["lent"], free.explain()

    # Where rank 0's own core is busy, too, a part of another core may still be a gain.
    own, lending = run(8, "--lending=off"), run(8)
    own_wall, wall = (result.record["ranks"][0]["totals_ns"]["wall"] for result in (own, lending))
    assert stopped(lending) or wall < 1.3 * own_wall, lending.explain()


@needs_two_cores
def test_ranks_that_exchange_messages_stay_awake(mpi):
    """If both slept, each would wait for the other's wake-up: 0.1 ms per exchange instead of 0.001 ms."""
    def seconds(*options):
        result = mpi.run(2, "exchanges.gcc", "20000", options=options, OMP_NUM_THREADS="1")
        check_measured(result)
        return float(result.out.split()[1])

    rounds = [(seconds(), seconds("--lending=off")) for _ in range(3)]
    lending, off = (min(times) for times in zip(*rounds))
    assert lending < 10 * off, rounds


@needs_two_cores
def test_a_rank_whose_cores_are_not_used_stays_awake(mpi):
    """A sleep would delay each message by up to 0.05 ms."""
    result = mpi.run(2, "exchanges.gcc", "500", "300", OMP_NUM_THREADS="1")
    check_measured(result)
    assert result.record["ranks"][0]["totals_ns"]["lent"] > 0
    assert int(result.out.split()[3]) < 50, result.out  # of 500 exchanges, half of which rank 0 waits for


@needs_two_cores
@pytest.mark.parametrize("option", ["--lending=off", "--observe", "--cores=off", "--wait=poll"])
def test_nothing_is_lent_where_it_is_switched_off(mpi, option):
    result = mpi.run(2, "unbalanced.gcc", *ARGUMENTS, options=(option,), OMP_NUM_THREADS="1")
    check_measured(result)
    for rank in result.record["ranks"]:
        assert rank["totals_ns"]["lent"] == rank["totals_ns"]["borrowed"] == 0
    assert set(result.timeline["threads"]) == {1}
    assert " lent " not in result.summary


def test_a_program_that_never_waits_lends_nothing(mpi):
    result = mpi.run(1, "unbalanced.gcc", *ARGUMENTS[:2])
    check_measured(result)
    assert result.record["ranks"][0]["totals_ns"]["borrowed"] == 0


@needs_two_cores
@pytest.mark.parametrize("awaited", ["barrier", "message"])
def test_a_rank_whose_core_is_used_sleeps(mpi, awaited):
    """If it polled, it would take turns with the thread that has borrowed the core."""
    result = mpi.run(2, "starved.clang", "0", awaited, OMP_NUM_THREADS="1")
    check_measured(result)
    assert result.record["ranks"][0]["totals_ns"]["borrowed"] > 0, result.summary
    slept = int(re.search(r"sleeps (\d+)", result.out).group(1))
    assert slept > 5 * 12, result.out  # 12 waits, in which the core is used for some 10 ms

# SPDX-License-Identifier: BSD-3-Clause
"""Programs of shapes that a balancer might not expect: their output is as without it."""

import os
import re
import shutil

import pytest

from harness import COMMAND, check_measured


@pytest.mark.parametrize("shape, ranks", [("split", 4), ("split", 3), ("multiple", 2), ("late", 3), ("nonblocking", 3),
                                          ("empty", 2), ("rooted", 4), ("rooted", 1)])
def test_output_is_as_without_steelyard(mpi, shape, ranks):
    result = mpi.run(ranks, "shapes.gcc", shape)
    check_measured(result)
    assert result.out == mpi.native(ranks, "shapes.gcc", shape).out
    assert result.out.startswith(f"shapes: {shape} ")


def test_everybody_waited_for_the_late_rank(mpi):
    result = mpi.run(3, "shapes.clang", "late", options=("--lending=off",))
    check_measured(result)
    ranks = result.record["ranks"]
    for rank in ranks[:2]:
        assert rank["totals_ns"]["mpi"] > 0.5e9, "a second in all"
        assert rank["waited_for"]["2"] > 0.5
    assert ranks[2]["totals_ns"]["mpi"] < ranks[0]["totals_ns"]["mpi"]
    assert "for rank 2" in result.summary


def test_regions_begun_by_threads_that_call_mpi_are_left_alone(mpi):
    result = mpi.run(2, "shapes.clang", "multiple")
    check_measured(result)
    assert result.out == mpi.native(2, "shapes.clang", "multiple").out
    assert not result.moves()


def test_fortran_by_mpi_f08(mpi):
    result = mpi.run(3, "modern.gfortran")
    check_measured(result)
    assert result.out == mpi.native(3, "modern.gfortran").out
    assert "MPI (Fortran)" in result.record["intercepted"]
    for rank in result.record["ranks"]:
        # An allreduce, a broadcast, a Waitall and a barrier in each of 30 steps, and one allreduce more.
        assert 4 * 30 <= rank["totals_ns"]["mpi_calls"] <= 4 * 30 + 3, "each call counts once"


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_ranks_without_openmp(mpi, compiler):
    result = mpi.run(3, f"pure.{compiler}")
    check_measured(result)
    assert result.out == mpi.native(3, f"pure.{compiler}").out
    assert result.record["openmp"] == ""
    assert not any(rank["openmp"] for rank in result.record["ranks"])
    assert all(rank["totals_ns"]["mpi_calls"] >= 40 for rank in result.record["ranks"])


def test_ranks_without_openmp_are_not_advised_about_threads(mpi):
    node = "--emulate=package:1 core:4 pu:1"
    for threads in ("1", "2"):
        summary = mpi.run(2, "pure.gcc", options=(node,), OMP_NUM_THREADS=threads).summary
        assert "moved nothing: no OpenMP runtime is loaded, so no rank can use a further core" in summary
        assert "OMP_NUM_THREADS" not in summary and "no thread counts can change" not in summary
    observed = mpi.run(2, "pure.gcc", options=(node, "--observe")).summary
    assert "no OpenMP runtime, so no thread counts can change" in observed


def test_one_program_with_openmp_and_one_without(mpi):
    result = mpi.launch([*mpi.measured(1, "pure.gcc"), ":", *mpi.measured(1, "mixed.gcc")])
    check_measured(result)
    assert result.out == mpi.native(2, "mixed.gcc").out
    assert [rank["openmp"] for rank in result.record["ranks"]] == [False, True]
    assert [rank["totals_ns"]["regions"] > 0 for rank in result.record["ranks"]] == [False, True]


@pytest.mark.parametrize("option", ["--cores=off", "--observe"])
def test_an_option_of_one_rank_alone_switches_cores_off_for_all(mpi, option):
    for own, other in (((option,), ()), ((), (option,))):
        ranks = [mpi.measured(1, "mixed.gcc", options=options) for options in (own, other)]
        result = mpi.launch([*ranks[0], ":", *ranks[1]])
        check_measured(result)
        assert not result.moves(), result.summary


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("program", ["funneled.gcc", "funneled.clang"])
def test_collectives_called_inside_of_a_region_by_some_ranks(mpi, program, ranks):
    result = mpi.run(ranks, program)
    check_measured(result)
    assert result.out == mpi.native(ranks, program).out
    assert result.record["wall"] < 8, "nobody waits for the longest sleep there is for who was not counted"


@pytest.mark.parametrize("program", ["funneled.gcc", "funneled.clang"])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_waits_for_messages_inside_of_regions(mpi, program, threads):
    result = mpi.run(2, program, "wait", OMP_NUM_THREADS=threads)
    check_measured(result)
    sender, receiver = (rank["totals_ns"] for rank in result.record["ranks"])
    assert receiver["mpi_calls"] >= 20 and sender["mpi"] < receiver["mpi"]
    # A receiver that gets no core for a while finds the message there, and waits for less.
    assert receiver["mpi"] > 0.4 * 20 * 10e6
    assert receiver["omp_imbalance"] + receiver["region_useful"] < receiver["mpi_capacity"] / 2
    assert receiver["wall"] == receiver["serial"] + receiver["region_wall"] + receiver["mpi"]
    assert "rank 1 spent" in result.summary


def test_one_core_for_all(mpi):
    taskset = shutil.which("taskset")
    if taskset is None:
        pytest.skip("taskset is not installed")
    cpu = min(os.sched_getaffinity(0))
    head, ranks, *rest = mpi.measured(2, "unbalanced.gcc", "--steps=10", "--work=4")
    result = mpi.launch([head, ranks, taskset, "-c", str(cpu), *rest], OMP_NUM_THREADS="1")
    check_measured(result)
    assert not result.moves() and result.threads_at_end == [1, 1]
    assert "more ranks than cores" in result.record["nodes"][0]["nothing_moved"]


def test_more_threads_than_cores(mpi):
    threads = len(os.sched_getaffinity(0)) + 1
    result = mpi.run(2, "unbalanced.clang", "--steps=10", "--work=4", OMP_NUM_THREADS=str(threads))
    check_measured(result)
    assert not result.moves() and result.threads_at_end == [threads] * 2
    assert "more threads than cores" in result.summary
    yielded = "yielded ranks that waited in MPI, and idle threads, left their cores to threads that had none"
    assert yielded in " ".join(result.summary.split()), result.explain()
    assert all(rank["totals_ns"]["borrowed"] == 0 for rank in result.record["ranks"]), "nothing is lent here"
    assert result.record["nodes"][0]["cores"] == len(os.sched_getaffinity(0)), "cores, not threads"


def test_ranks_that_the_launcher_bound_apart_borrow_too(mpi):
    if mpi.flavour != "openmpi" or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("Open MPI is told to bind each rank to a core of its own")
    arguments = ("--steps=15", "--work=20", "--loads=3,1", "--regions=4")
    result = mpi.launch(["--bind-to", "core", *mpi.measured(2, "unbalanced.gcc", *arguments)], OMP_NUM_THREADS="1")
    check_measured(result)
    assert result.record["ranks"][0]["totals_ns"]["borrowed"] > 0, result.summary


@pytest.mark.parametrize("runtime", ["keep", "llvm"])
@pytest.mark.parametrize("how", [{"OMP_PROC_BIND": "close"}, {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"},
                                 {"GOMP_CPU_AFFINITY": "0"}])
def test_the_cores_of_a_rank_are_those_of_the_launcher_where_gnu_s_openmp_binds_its_first_thread(mpi, how, runtime):
    options = (f"--openmp={runtime}",)
    result = mpi.run(1, "unbalanced.gcc", "--steps=3", "--work=4", options=options, OMP_NUM_THREADS="2", **how)
    check_measured(result)
    assert result.record["nodes"][0]["cores"] == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("runtime, name", [("keep", "GNU OpenMP"), ("llvm", "LLVM OpenMP")])
def test_regions_of_gcc_are_measured_on_either_runtime(mpi, runtime, name):
    result = mpi.run(2, "unbalanced.gcc", "--steps=5", "--work=4", options=(f"--openmp={runtime}",))
    check_measured(result)
    assert result.record["openmp"] == name
    assert all(rank["totals_ns"]["regions"] >= 5 for rank in result.record["ranks"])

# SPDX-License-Identifier: BSD-3-Clause
"""Regions that repeat their work in each thread: where a rank owns one core, their sums are those of a native run."""

import os
import shutil

import pytest

from harness import EMULATED, check_measured

SHAPES = ("clause", "inner", "nested", "max", "set")  # of programs/repeated.c
needs_two_cores = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2 or shutil.which("taskset") is None,
                                     reason="two ranks of one core each")


def launch(mpi, words, variables):
    """On two cores, and without OMP_NUM_THREADS unless `variables` has it."""
    head, count, *rest = words
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    unset = () if "OMP_NUM_THREADS" in variables else ("env", "-u", "OMP_NUM_THREADS")
    return mpi.launch(["--bind-to", "none", head, count, "taskset", "-c", cpus, *unset, *rest], **variables)


REPEATING = ("plain", "single", "master", "queue", "at_times")
UNSEEN = ("beside", "each_task", "briefly")
SHARING = ("loop", "empty", "sections", "tasks", "taskloop")


def check_sums(mpi, compiler, shapes, **variables):
    native = launch(mpi, mpi.job(2, f"repeated.{compiler}", *shapes), EMULATED | variables)
    assert native.status == 0 and native.out.count(", rank ") == 2 * len(shapes), native.explain()
    result = launch(mpi, mpi.measured(2, f"repeated.{compiler}", *shapes), variables)
    check_measured(result)
    assert result.out == native.out, f"native: {native.out}" + result.explain()
    return result


@needs_two_cores
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("shapes", [("plain",), ("clause",), ("inner",), SHAPES])
def test_without_a_thread_count(mpi, shapes, compiler):
    check_sums(mpi, compiler, shapes)


@needs_two_cores
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("variables", [{"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "2"}, {"OMP_THREAD_LIMIT": "2"}])
def test_with_a_thread_count_or_a_limit(mpi, variables, compiler):
    check_sums(mpi, compiler, SHAPES, **variables)


@needs_two_cores
@pytest.mark.parametrize("compiler, runtime", [("gcc", "llvm"), ("gcc", "keep"), ("clang", "keep")])
def test_where_a_core_is_lent(mpi, compiler, runtime):
    variables = {"OMP_NUM_THREADS": "1", "STEELYARD_OPENMP": runtime}
    result = check_sums(mpi, compiler, REPEATING, **variables)
    assert [rank["totals_ns"]["borrowed"] for rank in result.record["ranks"]] == [0, 0], result.explain()
    assert "share out no work" in result.summary, result.explain()
    kept = {region["function"] for region in result.record["kept_regions"]}
    assert kept == set(REPEATING), result.explain()
    result = check_sums(mpi, compiler, SHARING, **variables)
    assert result.record["ranks"][0]["totals_ns"]["borrowed"] > 0, result.explain()
    kept = {region["function"] for region in result.record.get("kept_regions", [])}
    # Where the machine holds up a thread for 50 us in an execution without iterations, it seems to have computed.
    assert kept <= {"empty"}, result.explain()


@needs_two_cores
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_where_cores_are_off(mpi, compiler):
    """The way out that the manual gives to programs whose regions share out work and do more in each thread."""
    check_sums(mpi, compiler, REPEATING + UNSEEN, OMP_NUM_THREADS="1", STEELYARD_CORES="off")

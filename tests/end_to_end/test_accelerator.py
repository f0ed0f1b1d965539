# SPDX-License-Identifier: BSD-3-Clause
"""Waits for an accelerator, of a stand-in library that has the symbols of CUDA, HIP and Level Zero: they are neither
computing nor MPI, and the cores are lent meanwhile."""

import os

import pytest

from harness import check_measured
from steelyard import load, page, talp

STEPS, WAIT = 15, 20_000_000  # of programs/accelerator.c; ns

needs_two_cores = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs 2 cores")


def run(mpi, how, *options, threads=1):
    result = mpi.run(2, "accelerator.clang", how, options=options, OMP_NUM_THREADS=str(threads))
    check_measured(result)
    assert result.out.count("done") == 2, result.explain()
    totals = [rank["totals_ns"] for rank in result.record["ranks"]]
    for t in totals:
        parts = ("region_useful", "omp_imbalance", "omp_scheduling", "serial", "omp_serialisation", "mpi_capacity")
        assert t["capacity"] == sum(t[part] for part in parts) + t.get("gpu_capacity", 0)
        assert t["wall"] == t["serial"] + t["region_wall"] + t["mpi"] + t.get("gpu", 0)
    return result, *totals


def test_each_call_gets_its_arguments_and_gives_its_result(mpi):
    _, *totals = run(mpi, "names")
    assert [t["gpu_waits"] for t in totals] == [30, 30]


@needs_two_cores
def test_the_core_of_a_rank_that_waits_for_its_accelerator_is_borrowed(mpi):
    result, heavy, light = run(mpi, "sleep")
    assert light["gpu_waits"] == STEPS and light["gpu"] >= STEPS * WAIT
    assert light["gpu_capacity"] == light["gpu"] > 10 * light["serial"]
    assert 0 < heavy["borrowed"] <= 1.01 * light["lent"], result.summary
    assert light["lent"] > light["mpi"], "lent during waits for the accelerator, too"
    assert "gpu" not in heavy and result.record["metrics"]["gpu"] < 1
    assert "rank 1 waited for a GPU" in result.summary and "x GPU" in result.summary, result.summary
    read = load(result.record_file)
    assert read.timeline.query("rank == 1")["gpu_wait"].sum() * 1e9 == pytest.approx(light["gpu"], rel=0.05)
    assert "waiting for a GPU" in page.html(read)
    assert talp.talp(read)["Application"]["Global"]["deviceOffloadEfficiency"] == result.record["metrics"]["gpu"]


def test_a_wait_that_polls_keeps_its_core(mpi):
    _, heavy, light = run(mpi, "poll", "--wait=sleep")
    assert light["gpu"] >= STEPS * WAIT
    # The first waits at a place are not known to poll, and lend nothing.
    assert light["lent"] <= light["mpi"]
    assert heavy["borrowed"] <= 1.01 * light["lent"]


@pytest.mark.parametrize("option", ["--lending=off", "--observe"])
def test_nothing_is_lent_where_it_is_switched_off(mpi, option):
    _, heavy, light = run(mpi, "sleep", option)
    assert light["gpu"] >= STEPS * WAIT and light["lent"] == heavy["borrowed"] == 0


def test_threads_of_a_region_that_wait_do_not_compute(mpi):
    _, _, light = run(mpi, "region", "--observe", threads=2)
    assert light["gpu_waits"] == 2 * STEPS and light["gpu_capacity"] >= 2 * STEPS * WAIT
    assert light["region_useful"] < light["gpu_capacity"] / 4 and light["regions"] == STEPS


def test_a_region_of_fixed_size_that_waits_does_not_fix_the_thread_count(mpi):
    result, _, light = run(mpi, "fixed")
    assert light["gpu_waits"] == 2 * STEPS
    assert not result.record["ranks"][1]["fixed_reason"], result.summary


def test_waits_of_other_threads_change_nothing(mpi):
    _, _, light = run(mpi, "thread")
    assert "gpu" not in light and light["serial"] >= STEPS * WAIT

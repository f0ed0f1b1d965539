# SPDX-License-Identifier: BSD-3-Clause
"""Nested regions and regions of other threads: their time is in the rank's figures, once, and in a table."""

import re

import pytest

REGIONS = 6  # of programs/other_regions.c
PARTS = ("region_useful", "omp_imbalance", "omp_scheduling", "serial", "omp_serialisation", "mpi_capacity")
RUNTIMES = [("gcc", ()), ("gcc", ("--openmp=llvm",)), ("clang", ())]
each_runtime = pytest.mark.parametrize("compiler, options", RUNTIMES)


def figures(result):
    """By rank: the computed thread time, and the totals; and the table."""
    assert result.status == 0, result.explain()
    computed = {int(rank): int(ns) for rank, ns in re.findall(r"computed (\d) (\d+)", result.out)}
    totals = {rank["rank"]: rank["totals_ns"] for rank in result.record["ranks"]}
    for rank, t in totals.items():
        assert t["capacity"] == sum(t[part] for part in PARTS), "each thread's time is counted once"
        assert t["wall"] == t["serial"] + t["region_wall"] + t["mpi"]
        assert 0.9 * computed[rank] < t["region_useful"], result.explain()
    assert all(0 < value <= 1 for value in result.record["metrics"].values())
    return computed, totals, by_kind(result.record.get("other_regions", []))


def by_kind(table):
    """Nested regions, then those of other threads: a compiler may unroll the loop around a region, and make several."""
    kinds = {}
    for row in table:
        kind = kinds.setdefault(row["nested"], {**row, "executions": 0, "useful": 0, "imbalance": 0})
        for what in ("executions", "useful", "imbalance"):
            kind[what] += row[what]
        assert row["threads"] == kind["threads"]
    return [kinds[nested] for nested in (True, False) if nested in kinds]


@each_runtime
def test_nested_teams(mpi, compiler, options):
    computed, totals, table = figures(mpi.run(1, f"other_regions.{compiler}", "nested", options=options))
    (t,) = totals.values()
    assert t["region_useful"] < 1.3 * computed[0], "the time of an inner region is not also that of the outer one"
    assert t["omp_imbalance"] > computed[0] / 10, "the first thread of an inner team waits for the second"
    assert t["regions"] == REGIONS and t["beyond_owned"] > 0, "four threads, and the rank owns two cores"
    (inner,) = table
    assert (inner["nested"], inner["executions"], inner["threads"]) == (True, 2 * REGIONS, 2)
    if compiler == "gcc" and not options:
        assert inner["function"].startswith("inner")
    assert 0.5 < inner["useful"] / (inner["useful"] + inner["imbalance"]) < 0.95


@each_runtime
def test_serialised_inner_regions(mpi, compiler, options):
    computed, totals, table = figures(mpi.run(1, f"other_regions.{compiler}", "serialised", options=options))
    (t,) = totals.values()
    assert t["region_useful"] < 1.3 * computed[0] and "beyond_owned" not in t
    (inner,) = table
    assert (inner["nested"], inner["executions"], inner["threads"]) == (True, 2 * REGIONS, 1)


@each_runtime
def test_regions_of_two_threads_at_the_same_time(mpi, compiler, options):
    result = mpi.run(1, f"other_regions.{compiler}", "threads", options=options)
    computed, totals, table = figures(result)
    (t,) = totals.values()
    assert t["region_useful"] < 1.3 * computed[0] and t["omp_imbalance"] > computed[0] / 10
    assert t["regions"] == 2 * REGIONS and t["region_wall"] == 0, "the primary thread has begun none"
    (region,) = table
    assert (region["nested"], region["executions"], region["threads"]) == (False, 2 * REGIONS, 2)
    assert "OpenMP regions" in result.record["intercepted"]
    assert "of other threads: " in result.summary and "12 executions" in result.summary, result.summary


@each_runtime
def test_regions_while_the_primary_thread_receives(mpi, compiler, options):
    result = mpi.run(2, f"other_regions.{compiler}", "received", options=options)
    computed, totals, table = figures(result)
    if not computed[0]:
        pytest.skip("this MPI has no MPI_THREAD_MULTIPLE")
    receiver = totals[0]
    assert 0 < receiver["mpi_overlapped"] <= receiver["mpi"]
    assert receiver["mpi_overlapped"] > computed[0] / 3, "its primary thread is in MPI all the while"
    assert result.record["metrics"]["load_balance"] > 0.6, "both ranks compute, in regions of other threads"
    lent = sum(t.get("lent", 0) for t in totals.values())  # until the first region of the other thread begins
    assert lent < 0.1 * computed[0], "other threads use the cores"
    assert [(region["nested"], region["ranks"], region["executions"]) for region in table] == [(False, 2, 2 * REGIONS)]


@each_runtime
def test_cancelled_regions(mpi, compiler, options):
    result = mpi.run(1, f"other_regions.{compiler}", "cancelled", options=options, OMP_CANCELLATION="true")
    computed, totals, table = figures(result)
    (t,) = totals.values()
    assert t["region_useful"] < 1.3 * computed[0]
    assert {(region["nested"], region["executions"]) for region in table} == {(True, 2), (False, REGIONS)}


def test_nested_regions_of_fortran(mpi):
    computed, totals, table = figures(mpi.run(1, "other_regions.gfortran"))
    (t,) = totals.values()
    assert t["region_useful"] < 1.3 * computed[0] and t["omp_imbalance"] > computed[0] / 10
    assert [(region["nested"], region["executions"], region["threads"]) for region in table] == [(True, 2 * REGIONS, 2)]

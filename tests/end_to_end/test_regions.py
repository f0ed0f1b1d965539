# SPDX-License-Identifier: BSD-3-Clause
"""Named regions (steelyard/regions.h) in C, Fortran and Python: their figures in the record, and what is refused."""

import re
import sys
from pathlib import Path

import pytest
from test_later_mpi import python_environment, run

from harness import check_measured
from steelyard import load, page, talp

STEPS = 5  # of programs/regions.c
PARTS = ("region_useful", "omp_imbalance", "omp_scheduling", "serial", "omp_serialisation", "mpi_capacity")
SKEW = 100_000  # ns per execution: Steelyard's events have the processor's counter as their clock


def test_figures_of_regions(mpi):
    result = mpi.run(2, "regions.gcc")
    check_measured(result)
    assert result.out.count("after: 1, failures 0") == 2, result.explain()
    read = load(result.record_file)
    totals = {(region["name"], part["rank"]): part for region in read.record["regions"] for part in region["ranks"]}
    clocks = re.findall(r"rank (\d) (\w+) inside (\d+) outside (\d+)", result.out)
    assert len(clocks) == 8
    for rank, name, inside, outside in clocks:
        if (name, int(rank)) == ("output", 1):
            assert (name, 1) not in totals
            continue
        part = totals[name, int(rank)]
        t = part["totals_ns"]
        assert part["count"] == (STEPS if name in ("solve", "wait") else 1)
        assert int(inside) - SKEW * part["count"] <= t["wall"] <= int(outside) + SKEW * part["count"], (name, rank)
        assert t["wall"] == t["serial"] + t["region_wall"] + t["mpi"]
        assert t["capacity"] == sum(t[each] for each in PARTS)
        assert t["regions"] == (STEPS if name == "solve" else 0)
        assert t["mpi_calls"] == {"solve": STEPS, "wait": STEPS, "setup": 1, "output": 0}[name]
    assert totals["setup", 1]["totals_ns"]["mpi"] > totals["setup", 0]["totals_ns"]["serial"] / 2
    assert totals["solve", 0]["totals_ns"]["mpi"] >= totals["wait", 0]["totals_ns"]["mpi"]


def test_efficiencies_of_regions_in_summary_page_and_export(mpi):
    result = mpi.run(2, "regions.gcc")
    check_measured(result)
    read = load(result.record_file)
    assert set(read.regions.index) == {"setup", "solve", "wait", "output"}
    assert list(read.regions["wall"]) == sorted(read.regions["wall"], reverse=True)
    setup, wait, output = (read.regions.loc[name] for name in ("setup", "wait", "output"))
    assert setup["load_balance"] < 0.75, "one of two ranks computes"
    assert wait["mpi"] < setup["mpi"] and wait["parallel"] < 0.1
    assert output["ranks"] == 1 and output["mpi"] > 0.9 and output["openmp"] == pytest.approx(0.5, abs=0.05)
    assert re.search(r"region solve: \d+ % of the run, 5 executions; parallel efficiency", result.summary)
    shown = page.html(read)
    assert "How efficient was each region" in shown and ">setup<" in shown
    assert talp.talp(read)["Application"]["setup"]["mpiLoadBalance"] == setup["load_balance"]


def test_running_efficiencies_are_those_of_the_end(mpi):
    result = mpi.run(2, "regions.gcc")
    check_measured(result)
    metrics, wall = result.record["metrics"], result.record["wall"]
    told = re.findall(r"so far (\d) ranks seconds (\S+) parallel (\S+) mpi (\S+) load_balance (\S+) openmp (\S+)",
                      result.out)
    assert len(told) == 2
    for ranks, seconds, *efficiencies in told:
        assert int(ranks) == 2 and 0 < float(seconds) <= wall
        for name, value in zip(("parallel", "mpi", "load_balance", "openmp"), efficiencies):
            assert float(value) == pytest.approx(metrics[name], abs=0.15), name


def test_what_is_not_nested_is_refused(mpi):
    result = mpi.run(2, "regions.gcc", "wrong")
    check_measured(result)
    for call, message in (("end none", "region 'outer' was ended, and no region is open"),
                          ("end outer", "region 'outer' was ended while region 'inner', begun inside it, is open"),
                          ("begin outer", "region 'outer' was begun while it is open"),
                          ("in parallel", "steelyard_region_end() has no effect inside a parallel region")):
        assert f"{call}: STEELYARD_ERROR_INVALID_STATE: {message}" in result.out, result.explain()
    warnings = [line for line in result.said if "no region is open" in line]
    assert warnings, "the first failure is said at once: " + result.err
    remarks = " ".join(result.record["remarks"])
    assert "region 'outer' was open at MPI_Finalize" in remarks
    assert "figures of regions are incomplete, as 3 calls failed; the first: region 'outer'" in remarks
    assert [(region["name"], region["ranks"][0]["count"]) for region in result.record["regions"]] in (
        [("outer", 1), ("inner", 1)], [("inner", 1), ("outer", 1)])


def test_a_pause_is_in_no_figure(mpi):
    result = mpi.run(2, "regions.gcc", "pause")
    check_measured(result)
    assert result.out.count("failures 0") == 2, result.explain()
    read = load(result.record_file)
    clocks = re.findall(r"rank (\d) outer inside (\d+) outside (\d+) pause inside (\d+) outside (\d+) "
                        r"barrier (\d+)", result.out)
    assert len(clocks) == 2
    regions = {(region["name"], part["rank"]): part["totals_ns"]
               for region in read.record["regions"] for part in region["ranks"]}
    for rank, *times in clocks:
        inside, outside, pause_inside, pause_outside, barrier = map(int, times)
        whole = read.record["ranks"][int(rank)]
        outer, none = regions["outer", int(rank)], regions["none of it", int(rank)]
        assert pause_inside - SKEW <= whole["paused"] * 1e9 <= pause_outside + SKEW
        assert inside - pause_outside - SKEW <= outer["wall"] <= outside - pause_inside + SKEW
        assert none["wall"] == none["mpi_calls"] == none["regions"] == none["capacity"] == 0
        for t in (outer, whole["totals_ns"]):
            assert (t["regions"], t["mpi_calls"]) == (1, 1)
            assert t["wall"] == t["serial"] + t["region_wall"] + t["mpi"]
            assert t["capacity"] == sum(t[each] for each in PARTS)
        assert whole["totals_ns"]["mpi"] <= barrier + SKEW, "the wait for rank 0 was paused"
        assert read.timeline["end"].max() <= read.record["wall"] + 1e-3
    assert read.ranks["paused"].min() > 0
    assert "the program paused the measurement" in result.summary


def test_without_steelyard_nothing_happens(mpi):
    result = mpi.native(2, "regions.gcc", "wrong")
    assert result.status == 0 and result.out.count("STEELYARD_INACTIVE: not started under") == 4, result.explain()


def test_fortran(mpi):
    result = mpi.run(2, "regions.gfortran")
    check_measured(result)
    assert result.out.count("region 'solve' was ended while region 'exchange', begun inside it, is open") == 2
    assert result.out.count("status 0") == 2
    regions = {region["name"]: region["ranks"] for region in result.record["regions"]}
    assert set(regions) == {"solve", "exchange"}
    assert all([part["count"] for part in ranks] == [3, 3] for ranks in regions.values())


def test_python(mpi, tmp_path):
    script = Path(__file__).parent / "programs" / "python_regions.py"
    variables = python_environment(mpi, tmp_path)
    result = run(mpi, sys.executable, script, **variables)
    check_measured(result)
    assert result.out.count("refused: region 'steps' was ended, and no region is open") == 2, result.explain()
    regions = {region["name"]: region["ranks"] for region in result.record["regions"]}
    assert [part["count"] for part in regions["steps"]] == [1, 1]
    assert [part["count"] for part in regions["exchange"]] == [5, 5]
    assert all(part["totals_ns"]["mpi_calls"] == 4 for part in regions["exchange"]), "one is paused"
    assert all(rank["paused"] > 0 for rank in result.record["ranks"])
    plain = mpi.launch(["-n", "2", sys.executable, str(script)], **variables)
    assert plain.status == 0 and plain.out.count("no error") == 2, plain.explain()

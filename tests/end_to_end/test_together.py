# SPDX-License-Identifier: BSD-3-Clause
"""All five capabilities in one program: each acts, none undoes another, and the results stay the same."""

import pytest

from harness import EMULATED, check_measured
from test_steps import checksum

PROGRAMS = ("together.g++", "together.clang++", "together.gfortran")
ALL = ("--collectives=on",)
SWITCHES = {"cores": ("--cores=off",), "loops": ("--loops=off",), "collectives": ("--collectives=off",),
            "all": ("--cores=off", "--loops=off", "--collectives=off")}


def acted(result):
    """What the run record tells of each capability."""
    record = result.record
    totals = [rank["totals_ns"] for rank in record["ranks"]]
    return {
        "cores": bool(result.moves()) or any(rank["lent"] > 0 for rank in totals),
        "loops": any(loop["executions"] > 0 for loop in record["loops"]),
        "collectives": any(rank.get("broadcasts", {"shared": 0})["shared"] > 0 for rank in record["ranks"]),
        "phases": any(rank.get("quiesced", 0) > 0 for rank in totals),
        "tasks": sum(pool["executed"] for pool in record.get("tasks", [])) > 0,
    }


def emulated(mpi, ranks, *arguments, options=ALL, program="together.g++", cores=None, **changes):
    node = f"--emulate=core:{cores or 4 * ranks} pu:1"
    return mpi.run(ranks, program, "--kernel=sleep", *arguments, options=(node, *options),
                   **(EMULATED | {"OMP_NUM_THREADS": "4"} | changes))


REFERENCES = {}


def reference(mpi, ranks, *arguments, **changes):
    """The checksum without Steelyard. Every MPI and compiler has the same: examples/CMakeLists.txt."""
    if (ranks, arguments) not in REFERENCES:
        REFERENCES[ranks, arguments] = checksum(mpi.native(ranks, "together.g++", *arguments, **changes))
    return REFERENCES[ranks, arguments]


@pytest.mark.parametrize("program", PROGRAMS)
def test_all_act_in_one_run(mpi, program):
    result = emulated(mpi, 4, "--steps=20", "--work=24", program=program)
    check_measured(result)
    assert acted(result) == dict.fromkeys(["cores", "loops", "collectives", "phases", "tasks"], True), result.explain()
    assert checksum(result) == reference(mpi, 4, "--steps=20", "--work=24")
    assert not any("fixed" in decision["why"] for decision in result.record["decisions"]), result.explain()
    assert not result.record.get("kept_regions") and not result.record["remarks"], "none is refused: " + result.summary
    steps = result.record["nodes"][0]["phases"]
    assert 5 <= steps <= 20, f"{steps} steps: neither set-up nor single collectives of a step count as one"


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_results_with_more_ranks_than_cores(mpi, ranks):
    arguments = ("--steps=6", "--work=4")
    result = mpi.run(ranks, "together.g++", *arguments, options=ALL, OMP_NUM_THREADS="1")
    check_measured(result)
    assert checksum(result) == reference(mpi, ranks, *arguments, OMP_NUM_THREADS="1")


@pytest.mark.parametrize("off", SWITCHES)
def test_each_capability_may_be_off(mpi, off):
    result = emulated(mpi, 3, "--steps=6", "--work=8", options=(*ALL, *SWITCHES[off]))
    check_measured(result)
    assert checksum(result) == reference(mpi, 3, "--steps=6", "--work=8")
    if off in ("cores", "all"):  # the wide phase has a team of 12 threads where 4 cores are owned
        assert not any(rank["totals_ns"]["borrowed"] for rank in result.record["ranks"]), result.explain()
    for capability, value in acted(result).items():
        if off in (capability, "all") and capability in SWITCHES:
            assert not value or capability == "loops", f"{capability}: {result.explain()}"  # called loops are static
        elif capability not in ("cores", "loops" if off == "all" else ""):
            assert value, f"{capability}: {result.explain()}"


@pytest.mark.parametrize("arguments", [("--phases=off",), ("--tasks=off",)])
def test_phases_and_tasks_may_be_off(mpi, arguments):
    result = emulated(mpi, 3, "--steps=6", "--work=8", *arguments)
    check_measured(result)
    assert checksum(result) == reference(mpi, 3, "--steps=6", "--work=8")
    assert acted(result)["phases"] == ("--phases=off" not in arguments)

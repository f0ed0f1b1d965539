# SPDX-License-Identifier: BSD-3-Clause
"""The bundled program, in all languages and through all compilers: measured, moved, and its result is as it was."""

import functools
import re

import pytest

from harness import Mpi, check_measured

PROGRAMS = ["unbalanced.clang", "unbalanced.gcc", "unbalanced.gfortran", "unbalanced.clang++", "unbalanced.g++"]
ARGUMENTS = ("--steps=6", "--work=8", "--imbalance=80")


@functools.lru_cache(maxsize=None)
def native_checksum(flavour, ranks, folder):
    return checksum(Mpi(flavour, folder).native(ranks, "unbalanced.gcc", *ARGUMENTS[: 2 if ranks == 1 else 3]))


def checksum(result):
    assert result.status == 0, result.explain()
    return re.search(r"checksum (\d+)$", result.out, re.MULTILINE).group(1)


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("program", PROGRAMS)
def test_result_is_as_without_steelyard(mpi, program, ranks, tmp_path_factory):
    result = mpi.run(ranks, program, *ARGUMENTS[: 2 if ranks == 1 else 3])
    check_measured(result)
    assert checksum(result) == native_checksum(mpi.flavour, ranks, tmp_path_factory.getbasetemp())
    assert len(result.out.splitlines()) == 1, "Steelyard speaks on standard error only"
    record = result.record
    assert [rank["rank"] for rank in record["ranks"]] == list(range(ranks))
    assert len({rank["pid"] for rank in record["ranks"]}) == ranks
    assert {"openmpi": "Open MPI", "mpich": "MPICH"}[mpi.flavour] in record["mpi"]
    assert "OpenMP regions" in record["intercepted"]
    language = "Fortran" if "gfortran" in program else "C"
    assert f"MPI ({language})" in record["intercepted"], "blocking calls were seen, in the program's language"
    for rank in record["ranks"]:
        totals = rank["totals_ns"]
        assert totals["regions"] >= 6 and totals["mpi_calls"] >= 6
        assert totals["mpi"] + totals["region_wall"] + totals["serial"] <= totals["wall"] * 1.001
        assert totals["region_useful"] > 0
    assert record["command"][1:] == list(ARGUMENTS[: 2 if ranks == 1 else 3])


@pytest.mark.parametrize("options", [(), ("--observe",)])
def test_names_the_rank_that_the_others_wait_for(mpi, options):
    arguments = ("--steps=12", "--work=20", "--loads=1,1,4", "--kernel=sleep")
    result = mpi.run(3, "unbalanced.clang", *arguments, options=options)
    check_measured(result)
    ranks = result.record["ranks"]
    share = [rank["totals_ns"]["mpi"] / rank["totals_ns"]["wall"] for rank in ranks]
    assert share[2] < share[0] and share[2] < share[1]
    for rank in ranks[:2]:
        assert max(rank["waited_for"], key=rank["waited_for"].get) == "2", rank["waited_for"]
    assert re.search(r"waiting ranks 0-1 .* for rank 2", result.summary), result.summary


def test_load_that_moves_from_rank_to_rank_keeps_its_result(mpi):
    drifting = ("--steps=24", "--work=10", "--drift=4", "--regions=3", "--collective=allreduce")
    result = mpi.run(2, "unbalanced.gcc", *drifting, OMP_NUM_THREADS="1")
    check_measured(result)
    assert checksum(result) == checksum(mpi.native(2, "unbalanced.gcc", *drifting, OMP_NUM_THREADS="1"))

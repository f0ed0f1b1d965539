# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are not here: work is sleeping, so there are as many cores as one likes."""

import re
import shutil
import subprocess

import pytest

from harness import EMULATED, check_measured

NODE = "package:2 core:24 pu:1"


# The program compares its own checksum with what it must be: an iteration that is lost or repeated is an exit status.
def unbalanced(mpi, ranks, steps, *arguments, options, threads="6", **changes):
    return mpi.run(ranks, "unbalanced.clang", "--kernel=sleep", f"--steps={steps}", *arguments, options=options,
                   **(EMULATED | {"OMP_NUM_THREADS": threads} | changes))


def test_cores_go_to_the_rank_with_most_work(mpi):
    result = unbalanced(mpi, 8, 50, "--work=360", "--imbalance=100", options=(f"--emulate={NODE}",))
    check_measured(result)
    record = result.record
    assert record["instrument"] == "emulated" and record["nodes"][0]["emulated"]
    assert record["nodes"][0]["cores"] == 48
    assert record["nodes"][0]["phase_source"] == "collectives"
    assert result.moves(), record["decisions"]
    threads = result.threads_at_end
    assert sum(threads) <= 48 and max(threads) <= 24 and min(threads) >= 1
    assert threads[0] == max(threads) > 6, threads
    assert [rank["threads_at_start"] for rank in record["ranks"]] == [6] * 8
    assert result.timeline.query("rank == 0")["threads"].max() > 6, "the team itself grew"
    assert f"-> {','.join(map(str, threads))}" in result.summary


@pytest.mark.parametrize("options, reason", [(("--observe",), "only observing"), (("--cores=off",), "switched off")])
def test_nothing_moves_where_it_is_switched_off(mpi, options, reason):
    result = unbalanced(mpi, 4, 20, "--work=80", "--imbalance=150", threads="4",
                        options=("--emulate=core:16 pu:1", *options))
    check_measured(result)
    assert result.threads_at_end == [4] * 4
    assert not result.moves()
    assert reason in result.record["nodes"][0]["nothing_moved"]
    assert re.search(f"moved (nothing|no core): .*{reason}", result.summary), result.summary
    assert set(result.timeline["threads"]) <= {1, 4}
    for rank in result.record["ranks"]:
        assert rank["totals_ns"]["lent"] == rank["totals_ns"]["borrowed"] == 0


def test_balanced_ranks_are_left_as_they_are(mpi):
    result = unbalanced(mpi, 4, 25, "--work=80", "--imbalance=0", options=("--emulate=core:8 pu:1", "--lending=off"),
                        threads="2")
    check_measured(result)
    assert result.threads_at_end == [2] * 4
    assert result.record["nodes"][0]["nothing_moved"]
    assert re.search("moved (nothing|no core)", result.summary)


def test_one_thread_a_core_unless_smt_is_asked_for(mpi):
    # 2 ranks x 2 threads fill the 4 cores; their second hardware threads are unused.
    node = "--emulate=package:1 core:4 pu:2"
    result = unbalanced(mpi, 2, 40, "--work=60", "--imbalance=60", options=(node,), threads="2")
    check_measured(result)
    assert result.record["nodes"][0]["cores"] == 4
    assert sum(result.threads_at_end) <= 4
    assert max(rank["thread_ceiling"] for rank in result.record["ranks"]) <= 4
    assert result.threads_at_end[0] == 3, result.summary
    with_smt = unbalanced(mpi, 2, 40, "--work=120", "--imbalance=60", options=(node, "--smt"), threads="4")
    check_measured(with_smt)
    assert sum(with_smt.threads_at_end) <= 8 and with_smt.threads_at_end[0] > 4, with_smt.summary


def test_node_of_one_core(mpi):
    result = unbalanced(mpi, 2, 10, "--work=10", "--imbalance=50", options=("--emulate=core:1 pu:1",), threads="1")
    check_measured(result)
    assert not result.moves()
    assert "more ranks than cores" in result.record["nodes"][0]["nothing_moved"]


def test_one_rank_on_a_large_node(mpi):
    result = unbalanced(mpi, 1, 10, "--work=40", options=(f"--emulate={NODE}",))
    check_measured(result)
    assert not result.moves() and result.threads_at_end == [6]
    assert "one rank" in result.record["nodes"][0]["nothing_moved"]


def test_topology_from_a_file(mpi, tmp_path):
    lstopo = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    if lstopo is None:
        pytest.skip("hwloc's lstopo is not installed")
    node = tmp_path / "node.xml"
    subprocess.run([lstopo, "--input", "package:2 core:4 pu:1", str(node)], check=True)
    result = unbalanced(mpi, 4, 40, "--work=60", "--imbalance=80", options=(), threads="2", HWLOC_XMLFILE=str(node),
                        HWLOC_THISSYSTEM="0")
    check_measured(result)
    assert result.record["nodes"][0]["cores"] == 8
    assert "2 packages" in result.record["nodes"][0]["topology"]
    assert result.record["nodes"][0]["emulated"]
    assert result.moves() and max(result.threads_at_end) <= 4, "no rank spans two packages"


def test_topology_that_hwloc_does_not_know(mpi):
    result = mpi.run(2, "unbalanced.gcc", options=("--emulate=package:two",))
    assert result.status == 125, result.explain()
    assert len(result.said) == 1 and "--emulate is 'package:two'" in result.said[0]
    assert not result.out


def test_paper_s_step_counts(mpi):
    at_start = unbalanced(mpi, 4, 16, "--work=80", "--imbalance=150", threads="4",
                          options=("--emulate=core:16 pu:1", "--balance-at=5", "--lending=off"))
    check_measured(at_start)
    assert len(at_start.moves()) == 1, "once, as asked"
    assert at_start.threads_at_end[0] > 4

# SPDX-License-Identifier: BSD-3-Clause
"""Programs of gcc keep GNU's OpenMP runtime and all that it can do."""

import os
import re
import subprocess

import pytest

from harness import BUILD, check_measured, environment, run_without_mpi

STRATEGIES = ("auto", "static", "staggered", "guided", "steal", "off")


@pytest.mark.parametrize("cancellation", ["true", "false"])
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_only_it_can_do(strategy, threads, cancellation, tmp_path):
    options = (f"--loops={strategy}", *(("--observe",) if strategy == "off" else ()))
    result = run_without_mpi("gnu_runtime.gcc", tmp_path, options=options, OMP_NUM_THREADS=threads,
                             OMP_CANCELLATION=cancellation)
    assert result.status == 0 and result.out == "ok\n", result.explain()
    check_measured(result)
    assert result.record["openmp"] == "GNU OpenMP"
    # Each call of an entry point that begins a region, of 4.2 or of today, is one region.
    assert result.record["ranks"][0]["totals_ns"]["regions"] >= 24, result.explain()


def test_idle_threads_spin_as_the_user_says(tmp_path):
    def spin_count(**variables: str) -> str:
        result = run_without_mpi("gnu_runtime.gcc", tmp_path, OMP_DISPLAY_ENV="verbose", **variables)
        return next(line.split("'")[1] for line in result.err.splitlines() if "GOMP_SPINCOUNT" in line)

    native = subprocess.run([BUILD / "tests/end_to_end/gnu_runtime.plain.gcc"], text=True, capture_output=True,
                            timeout=60,
                            env=environment(OMP_DISPLAY_ENV="verbose", GOMP_SPINCOUNT="1234"))
    assert "GOMP_SPINCOUNT = '1234'" in native.stderr
    assert spin_count(GOMP_SPINCOUNT="1234") == "1234"
    assert spin_count(OMP_WAIT_POLICY="passive") == "0"


@pytest.fixture
def one_cpu():
    """As in a job whose allocation is smaller than its node."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


UNBOUND = {"OMP_DISPLAY_ENV": "verbose", "OMPI_MCA_hwloc_base_binding_policy": "none",
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_show_mca_params": "environment"}


@pytest.mark.parametrize(("ranks", "more"), [(1, 0), (1, 1), (2, 0), (1, None), (2, None)])
@pytest.mark.parametrize("allocation", ["all", "one_cpu"])
def test_idle_threads_do_not_spin_where_others_need_their_cores(mpi, ranks, more, allocation, request):
    if allocation == "one_cpu":
        request.getfixturevalue(allocation)
    cpus = len(os.sched_getaffinity(0))
    threads = "" if more is None else str(cpus + more)
    result = mpi.run(ranks, "constrained.gcc", "free", "1", OMP_NUM_THREADS=threads, **UNBOUND)
    counts = re.findall(r"GOMP_SPINCOUNT = '(\d+)'", result.err)
    # Where no count is set, the ranks share the CPUs.
    crowded = ranks > cpus if more is None else more > 0 or ranks > 1
    assert len(counts) == ranks and all((count == "0") == crowded for count in counts), result.explain()
    if mpi.flavour == "openmpi":
        assert ("mpi_yield_when_idle=true (environment)" in result.err) == crowded, result.explain()


@pytest.mark.parametrize("source", ["command line", "environment", "config file"])
def test_a_length_that_the_user_sets_holds_where_threads_share_cpus(mpi, source, tmp_path, one_cpu):
    config = tmp_path / "site.toml"
    config.write_text("blocktime = 100\n")
    options = {"command line": ("--blocktime=100",), "config file": (f"--config={config}",)}.get(source, ())
    variables = {"STEELYARD_BLOCKTIME": "100"} if source == "environment" else {}
    result = mpi.run(1, "constrained.gcc", "free", "1", options=options, OMP_NUM_THREADS="2", **UNBOUND, **variables)
    (count,) = re.findall(r"GOMP_SPINCOUNT = '(\d+)'", result.err)
    assert int(count) > 0 and result.record["options"]["blocktime"] == "100", result.explain()
    assert result.record["options"]["blocktime-auto"] == "off"


@pytest.mark.parametrize("cores", ["on", "off"])
def test_llvm_s_variable_says_nothing_to_gnu_s_runtime(mpi, cores):
    result = mpi.run(1, "constrained.gcc", "free", "4", options=("--blocktime=0", f"--cores={cores}"),
                     OMP_DISPLAY_ENV="verbose", KMP_BLOCKTIME="1234")
    assert result.status == 0 and "GOMP_SPINCOUNT = '0'" in result.err, result.explain()


def test_the_first_thread_stays_where_gnu_s_runtime_binds_it(tmp_path):
    result = run_without_mpi("gnu_runtime.gcc", tmp_path, OMP_PROC_BIND="close", OMP_PLACES="cores")
    assert result.status == 0 and result.out == "ok\n", result.explain()
    assert result.record["nodes"][0]["cores"] == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("strategy", ["auto", "steal"])
def test_two_runtimes_in_a_process_are_both_seen(strategy, tmp_path):
    result = run_without_mpi("two_runtimes.gcc", tmp_path, options=(f"--loops={strategy}",))
    assert result.status == 0 and result.out == "ok\n", result.explain()
    assert result.record["openmp"] == "LLVM OpenMP and GNU OpenMP"
    assert result.record["ranks"][0]["totals_ns"]["regions"] == 20
    assert sorted(loop["executions"] for loop in result.record["loops"]) == [10, 10]

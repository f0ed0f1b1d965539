# SPDX-License-Identifier: BSD-3-Clause
"""Where the surroundings of a run are unusual: the right cause is named, and what is possible still works."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import BUILD, COMMAND, LAUNCHERS, Mpi, environment

ALONE = BUILD / "tests" / "end_to_end" / "iterations.plain.clang"


def openmpi(folder: Path) -> Mpi:
    if "openmpi" not in LAUNCHERS:
        pytest.skip("openmpi is not installed")
    return Mpi("openmpi", folder)


def in_namespace(command: str) -> subprocess.CompletedProcess:
    """A shell command with mounts of its own."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may make no mount namespace")
    return subprocess.run(["unshare", "-m", "bash", "-c", command], env=environment(OMP_NUM_THREADS="1"), text=True,
                          capture_output=True, timeout=120)


def test_a_limited_address_space_is_named_as_the_cause(tmp_path):
    mpi = openmpi(tmp_path)
    words = " ".join(mpi.measured(2, "exits.clang", "status"))
    ran = subprocess.run(["bash", "-c", f"ulimit -v 300000; {mpi.mpirun} {words}"],
                         env=environment(OMP_NUM_THREADS="1"),
                         text=True, capture_output=True, timeout=120)
    assert "limited to 300000 KiB (ulimit -v)" in ran.stderr and "df /dev/shm" not in ran.stderr, ran.stderr
    assert "1 node x 2 ranks x 1 thread" in ran.stderr and "lending off (no shared memory)" in ran.stderr, ran.stderr


def test_ranks_with_different_options_are_told_so(tmp_path):
    mpi = openmpi(tmp_path)
    program = mpi.program("exits.clang")
    ranks = [f"-n 1 {COMMAND} run --record=none --confidence={level} {program} status" for level in (0.9, 0.99)]
    ran = mpi.launch(" : ".join(ranks).split(), OMP_NUM_THREADS="1")
    assert ran.status == 3 and "--confidence or --exploration: start all ranks" in ran.err, ran.explain()
    assert "lending off (different options)" in ran.err and "no shared memory" not in ran.err, ran.explain()


def test_ranks_that_see_different_shared_memory_are_told_so(tmp_path):
    mpi = openmpi(tmp_path)
    program = mpi.program("exits.clang")
    run = f"{COMMAND} run --record={mpi.record_file} {program} status"
    # Without Open MPI's own shared memory, which would not start either.
    ran = in_namespace(f"{mpi.mpirun} --mca btl self,tcp -n 1 {run} : "
                       f"-n 1 unshare -m bash -c 'mount -t tmpfs none /dev/shm && exec {run}'")
    assert "at rank 1, ranks of this node see different directories /dev/shm" in ran.stderr, ran.stderr
    assert "1 node x 2 ranks" in ran.stderr, ran.stderr


def test_full_shared_memory_is_named_as_the_cause(tmp_path):
    mpi = openmpi(tmp_path)
    words = " ".join(["--mca", "btl", "self,tcp", *mpi.measured(2, "exits.clang", "status")])
    ran = in_namespace(f"mount -t tmpfs -o size=64k none /dev/shm && {mpi.mpirun} {words}")
    assert "/dev/shm has no space left" in ran.stderr and "df /dev/shm" in ran.stderr, ran.stderr


def test_a_busy_program_on_the_same_cores_is_a_warning(mpi):
    beside = [subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c", "while True: pass"])
              for cpu in os.sched_getaffinity(0)]
    try:
        result = mpi.run(2, "unbalanced.gcc", "--steps=40", "--work=40", OMP_NUM_THREADS="1")
    finally:
        for program in beside:
            program.kill()
            program.wait()
    if "run_delay" not in result.record["ranks"][0]:
        pytest.skip("this kernel has no scheduler statistics")
    assert max(rank["run_delay"] for rank in result.record["ranks"]) > 0.25 * result.record["wall"], result.explain()
    assert "was ready to run but had no core for" in result.summary, result.explain()


@pytest.mark.skipif(not ALONE.exists(), reason="clang is not installed")
def test_without_proc(tmp_path):
    ran = in_namespace(f"umount -l /proc && {COMMAND} run --record={tmp_path}/record.json {ALONE}")
    assert "ELF machine" not in ran.stderr and "1 node x 1 rank" in ran.stderr, ran.stderr
    assert (tmp_path / "record.json").exists()


@pytest.mark.skipif(not ALONE.exists(), reason="clang is not installed")
def test_ranks_without_mpi_have_a_record_each(tmp_path):
    mpirun = openmpi(tmp_path).mpirun
    ran = subprocess.run([mpirun, "-n", "2", COMMAND, "run", f"--record={tmp_path}/record.json", ALONE],
                         env=environment(), text=True, capture_output=True, timeout=120)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["record.json.0", "record.json.1"], ran.stderr
    pids = {json.loads(file.read_text())["ranks"][0]["pid"] for file in tmp_path.iterdir()}
    assert len(pids) == 2
    told = subprocess.run([COMMAND, "doctor", ALONE], env=environment(), text=True, capture_output=True, timeout=60)
    assert "MPI: none" in told.stdout, told.stdout


@pytest.mark.skipif(not ALONE.exists(), reason="clang is not installed")
def test_the_record_of_a_rank_without_mpi_is_checked_where_it_is_written(tmp_path):
    run = [openmpi(tmp_path).mpirun, "-n", "2", COMMAND, "run"]
    (tmp_path / "steelyard-run.json.0").mkdir()
    (tmp_path / "record").mkdir()
    for option, written in (("--record=record", "record.1"), ("--record=auto", "steelyard-run-2.json.0")):
        ran = subprocess.run([*run, option, ALONE],
                             env=environment(), text=True, capture_output=True, timeout=120, cwd=tmp_path)
        assert ran.returncode == 0 and "record cannot be written" not in ran.stderr, ran.stderr
        assert (tmp_path / written).is_file(), ran.stderr
    (tmp_path / "record.1").unlink()
    (tmp_path / "record.1").mkdir()
    ran = subprocess.run([*run, "--record=record", ALONE],
                         env=environment(), text=True, capture_output=True, timeout=120, cwd=tmp_path)
    assert ran.returncode != 0 and "--record=record.1: Is a directory" in ran.stderr, ran.stderr


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.skipif(not ALONE.exists(), reason="clang is not installed")
def test_valgrind(tmp_path):
    """Its launcher runs between `steelyard run` and the program, with the preload library in it."""
    run = ["run", f"--record={tmp_path}/record.json"]
    source = tmp_path / "region.c"
    source.write_text("int main(void) {\n#pragma omp parallel\n  ;\n}\n")
    compiler = shutil.which("clang-19") or shutil.which("clang")
    subprocess.run([compiler, "-fopenmp", source, "-o", tmp_path / "region"], check=True)
    around = subprocess.run(["valgrind", "-q", "--trace-children=yes", "--tool=none", COMMAND, *run,
                             tmp_path / "region"],
                            env=environment(), text=True, capture_output=True, timeout=120)
    assert "1 node x 1 rank" in around.stderr, around.stderr
    inside = subprocess.run([COMMAND, *run, "valgrind", "-q", "--tool=none", tmp_path / "region"],
                            env=environment(), text=True, capture_output=True, timeout=120)
    assert "valgrind --trace-children=yes steelyard run ./app" in inside.stderr, inside.stderr


@pytest.mark.skipif(not ALONE.exists(), reason="clang is not installed")
def test_a_process_without_mpi_is_no_rank_0(tmp_path):
    ran = in_namespace(f"mount -t tmpfs -o size=4k none /dev/shm && {COMMAND} run --record={tmp_path}/r.json {ALONE}")
    assert "steelyard: " in ran.stderr and "/dev/shm" in ran.stderr and "steelyard[" not in ran.stderr, ran.stderr

# SPDX-License-Identifier: BSD-3-Clause
"""However a program ends, its status is its own, what happened is said, and nothing is left behind."""

import ctypes
import os
import signal
import subprocess
import sysconfig
import time

import pytest

from harness import check_measured, environment, left_in_shared_memory

NO_RECORD = "no run record"


def ends_as_natively(mpi, how, sentence):
    """Tries again where the launcher, on ending the job, threw away what a rank had written. MPICH's tells the status
    of the rank that ended, or of the other, which it has killed: now this, now that."""
    statuses = set()
    for _ in range(5):
        statuses.add(mpi.native(2, "exits.gcc", how).status)
        result = mpi.run(2, "exits.gcc", how)
        if result.status in statuses and sentence in result.err:
            break
    assert 0 not in statuses and result.status in statuses, (statuses, result.explain())
    assert result.err.count(sentence) == 1, result.explain()
    assert not result.summaries and not result.record_file.exists()
    assert not left_in_shared_memory()
    return result


@pytest.mark.parametrize("program", ["exits.clang", "exits.gcc"])
def test_status_after_mpi_finalize(mpi, program):
    check_measured(mpi.run(2, program, "status"), status=3)


def test_mpi_finalize_after_an_unseen_start(mpi):
    result = mpi.run(2, "exits.gcc", "unseen")
    assert result.status == 3 and not result.summaries, result.explain()


def test_exit_without_mpi_finalize(mpi):
    result = ends_as_natively(mpi, "exit", "this rank ended without MPI_Finalize")
    assert "steelyard[1]: this rank ended without MPI_Finalize: no run record was written" in result.err


def test_mpi_abort(mpi):
    result = ends_as_natively(mpi, "abort", "MPI_Abort(5)")
    assert NO_RECORD in result.err


def running(mpi, ranks):
    """A job in the midst of its steps, and the process ids of its ranks."""
    job = mpi.start(mpi.measured(ranks, "exits.clang", "endless"))
    pids = []
    while len(pids) < ranks:
        line = job.stdout.readline()
        assert line, job.stderr.read()
        if line.startswith("pid "):
            pids.append(int(line.split()[1]))
    return job, pids


def finish(job, pids):
    """Standard error of a job that was told to stop; it must, with all of its ranks."""
    try:
        _, err = job.communicate(timeout=30)
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
    for _ in range(50):
        if not any(os.path.exists(f"/proc/{pid}") for pid in pids):
            break
        time.sleep(0.1)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids), "a rank lives on"
    return err


def test_sigterm_to_mpirun(mpi):
    job, pids = running(mpi, 2)
    job.terminate()
    err = finish(job, pids)
    assert job.returncode != 0 or mpi.flavour == "mpich", "MPICH's launcher may call this a success"
    assert err.count("stopped by SIGTERM before MPI_Finalize: no run record was written") <= 1, err
    assert not mpi.record_file.exists()
    assert not left_in_shared_memory()


def test_sigterm_to_a_rank(mpi):
    job, pids = running(mpi, 2)
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    err = finish(job, pids)
    assert job.returncode != 0
    assert "Traceback" not in err and not mpi.record_file.exists()
    assert not left_in_shared_memory()


def stopped_by(name):
    return f"steelyard: stopped by {name} before MPI_Finalize: no run record was written\n"


def test_ctrl_c(mpi):
    """The terminal sends SIGINT to the launcher and to each rank of its process group. Open MPI's launcher then sends
    SIGTERM. Tries again where the launcher threw away what a rank had written."""
    name = {"mpich": "SIGINT", "openmpi": "SIGTERM"}[mpi.flavour]
    for _ in range(5):
        job, pids = running(mpi, 2)
        os.killpg(job.pid, signal.SIGINT)
        err = finish(job, pids)
        assert err.count("stopped by SIG") <= 1, err
        if stopped_by(name) in err:
            break
    assert stopped_by(name) in err, err
    assert not mpi.record_file.exists() and not left_in_shared_memory()


def running_alone(mpi, *before, libraries=()):
    """A rank that no launcher has started: its status is seen."""
    words = [*before, *mpi.measured(1, "exits.clang", "endless", *libraries)[2:]]
    job = subprocess.Popen(words, env=environment(), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, start_new_session=True)
    assert job.stdout.readline() == f"pid {job.pid}\n", job.stderr.read()
    return job


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_rank_ends_by_the_signal(mpi, number):
    job = running_alone(mpi)
    job.send_signal(number)
    err = finish(job, [])
    assert job.returncode == -number and err.count(stopped_by(number.name)) == 1, (job.returncode, err)


def test_python_that_a_plug_in_brings_finds_the_default_action_of_sigint(mpi):
    """Python makes SIGINT a KeyboardInterrupt only then. The plug-in keeps its names to itself."""
    library = sysconfig.get_config_var("INSTSONAME") or "none"
    try:
        ctypes.CDLL(library)
    except OSError:
        pytest.skip("no shared library of this Python")
    job = running_alone(mpi, libraries=[library])
    job.send_signal(signal.SIGINT)
    err = finish(job, [])
    assert job.returncode == -signal.SIGINT and "SIGINT" not in err, (job.returncode, err)


def test_an_ignored_sigint_stays_ignored(mpi):
    job = running_alone(mpi, "env", "--ignore-signal=INT")
    for number in (signal.SIGINT, signal.SIGTERM):
        time.sleep(0.2)
        assert job.poll() is None
        job.send_signal(number)
    err = finish(job, [])
    assert job.returncode == -signal.SIGTERM and stopped_by("SIGTERM") in err and "SIGINT" not in err, err


@pytest.mark.parametrize("victim", [0, 1])
def test_kill_of_a_rank(mpi, victim):
    job, pids = running(mpi, 3)
    os.kill(pids[victim], signal.SIGKILL)
    finish(job, pids)
    assert job.returncode != 0
    assert not mpi.record_file.exists()
    assert not left_in_shared_memory()


def test_a_rank_without_steelyard_is_named_once_as_the_cause_of_a_hang(mpi):
    job = mpi.start([*mpi.measured(2, "exits.gcc", "endless"), ":", *mpi.job(1, "exits.gcc", "endless")])
    sentence = "waiting in MPI_Init for other ranks, for 10 s so far: "
    try:
        said = next((line for line in job.stderr if sentence in line), "")
        time.sleep(2)  # ranks start within that
    finally:
        os.killpg(job.pid, signal.SIGTERM)
        others = job.stderr.read()  # communicate() misses what the loop has read ahead
        finish(job, [])
    assert said.startswith("steelyard[") and sentence not in others, others
    assert "Write `steelyard run` before each program of the job" in said

# SPDX-License-Identifier: BSD-3-Clause
"""steelyard cores: a resource manager changes the cores of a job that runs."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from harness import EMULATED, Result, steelyard_command


class Job:
    """`unbalanced`, under a name of its own."""

    def __init__(self, mpi, folder, ranks, arguments, options, before=(), **changes):
        self.mpi, self.changes = mpi, EMULATED | changes
        self.program = folder / f"resized-{os.getpid()}"
        self.program.symlink_to(mpi.program("unbalanced.clang"))
        head, count, command, *rest = mpi.measured(ranks, "unbalanced.clang", "--kernel=sleep", "--imbalance=0",
                                                   *arguments, options=options)
        rest[rest.index(str(mpi.program("unbalanced.clang")))] = str(self.program)
        self.process = mpi.start([*before, head, count, command, *rest], **self.changes)
        self.until(lambda job: all(rank["wall"] > 0.2 for rank in job["ranks"]))

    def look(self) -> dict:
        jobs = json.loads(steelyard_command("top", "--once", "--json").out)["jobs"]
        return next((job for job in jobs if str(self.program) in job["command"]), {})

    def until(self, condition) -> dict:
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            if (job := self.look()) and condition(job):
                return job
            time.sleep(0.05)
        raise AssertionError(f"not reached: {self.look()}")

    def change(self, *words) -> Result:
        return steelyard_command("cores", str(self.look()["ranks"][-1]["pid"]), *words)

    def end(self) -> Result:
        out, err = self.process.communicate(timeout=60)
        return Result(self.process.returncode, out, err, self.mpi.record_file)

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.communicate()


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "not reached"
        time.sleep(0.05)


def start(request, *words, **changes) -> Job:
    job = Job(*words, **changes)
    request.addfinalizer(job.kill)
    return job


def cpus_of(result: Result) -> dict[int, str]:
    """By rank, from the table that `steelyard cores` prints."""
    rows = re.findall(r"^ +(\d+) +\d+ +\d+ +([\d,-]+) +(?:yes|no)", result.out, re.M)
    return {int(rank): cpus for rank, cpus in rows}


def test_job_shrinks_and_grows(mpi, tmp_path, request):
    job = start(request, mpi, tmp_path, 2, ["--steps=1000", "--work=8"],
                ("--emulate=package:1 core:8 pu:1", "--balance-at=1000000"),  # no plan of its own comes between
                OMP_NUM_THREADS="4", PBS_JOBID="24.head")
    assert cpus_of(steelyard_command("cores", "24.head")) == {0: "0-3", 1: "4-7"}

    refused = job.change("--set=0-9")
    assert refused.status == 1 and "CPUs 8-9 are not among the CPUs" in refused.said[0], refused.explain()
    refused = job.change("--shrink=7")
    assert refused.status == 1 and "1 core would be left for 2 ranks" in refused.said[0], refused.explain()
    refused = job.change("--grow=1")
    assert refused.status == 1 and "already has all cores" in refused.said[0], refused.explain()

    shrunk = job.change("--set=0-2,7")
    assert shrunk.status == 0, shrunk.explain()
    assert cpus_of(shrunk) == {0: "0-1", 1: "2,7"} and "taken from the job: CPUs 3-6" in shrunk.out, shrunk.out
    seen = job.until(lambda job: [rank["cores"] for rank in job["ranks"]] == [2, 2])
    assert "requested" in [decision["outcome"] for decision in seen["decisions"]]
    grown = job.change("--grow=2")
    assert grown.status == 0, grown.explain()
    job.until(lambda job: [rank["cores"] for rank in job["ranks"]] == [3, 3])

    result = job.end()
    assert result.status == 0, result.explain()
    assert result.threads_at_end == [3, 3]
    requested = [decision for decision in result.record["decisions"] if decision["outcome"] == "requested"]
    assert [decision["what"] for decision in requested] == [
        "CPUs 0-7 -> 0-2,7, threads 4,4 -> 2,2", "CPUs 0-2,7 -> 0-4,7, threads 2,2 -> 3,3"]
    assert all(f"by user {os.getuid()} (steelyard cores)" in decision["why"] for decision in requested)
    for rank in (0, 1):
        teams = result.timeline.query(f"rank == {rank}")["threads"]
        assert {2, 3, 4} <= set(teams), "teams followed"
        assert list(teams)[-1] == 3
    assert "changed the cores of node 0 (requests: 2; the last: CPUs 0-2,7 -> 0-4,7" in result.summary


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_single_rank_gives_its_cpu_back(mpi, tmp_path, request):
    """On real CPUs: the affinity masks of the threads follow."""
    first, second = sorted(os.sched_getaffinity(0))[:2]
    job = start(request, mpi, tmp_path, 1, ["--steps=100000", "--work=4"], ("--record=none",),
                ["--bind-to", "none"] if mpi.flavour == "openmpi" else ["-bind-to", "none"], OMP_NUM_THREADS="2")
    (rank,) = job.look()["ranks"]
    shrunk = job.change(f"--set={second}")
    assert shrunk.status == 0, shrunk.explain()
    job.until(lambda job: job["ranks"][0]["cores"] == 1 and os.sched_getaffinity(rank["pid"]) == {second})
    assert job.change("--grow=1").status == 0
    job.until(lambda job: job["ranks"][0]["cores"] == 2 and os.sched_getaffinity(rank["pid"]) == {first, second})


def test_job_whose_cores_cannot_move(mpi, tmp_path, request):
    job = start(request, mpi, tmp_path, 2, ["--steps=100000", "--work=4"],
                ("--record=none", "--cores=off", "--emulate=package:1 core:4 pu:1"))
    refused = job.change("--shrink=1")
    assert refused.status == 1 and "cannot change: switched off (--cores=off)" in refused.said[0], refused.explain()
    shown = job.change()
    assert shown.status == 0 and "cannot change: switched off (--cores=off)" in shown.out


def test_paused_job_answers(mpi, tmp_path, request):
    """While the program has paused the measurement, a request takes effect, and `steelyard top` shows it."""
    file = tmp_path / "paused"
    words = mpi.measured(2, "regions.gcc", "pause", str(file), options=("--emulate=package:1 core:4 pu:1",))
    process = mpi.start(words, **EMULATED | {"OMP_NUM_THREADS": "2"})
    request.addfinalizer(lambda: process.poll() is None and os.killpg(process.pid, signal.SIGKILL))
    until(file.exists)

    def cores_now():
        jobs = json.loads(steelyard_command("top", "--once", "--json").out)["jobs"]
        return next(([rank["cores"] for rank in job["ranks"]] for job in jobs if str(file) in job["command"]), [])
    until(lambda: cores_now() == [2, 2])
    changed = steelyard_command("cores", str(process.pid), "--set=0,2")
    assert changed.status == 0 and cpus_of(changed) == {0: "0", 1: "2"}, changed.explain()
    until(lambda: cores_now() == [1, 1])
    file.unlink()
    out, err = process.communicate(timeout=60)
    result = Result(process.returncode, out, err, mpi.record_file)
    assert result.status == 0 and result.threads_at_end == [1, 1], result.explain()

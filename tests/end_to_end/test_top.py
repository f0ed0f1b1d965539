# SPDX-License-Identifier: BSD-3-Clause
"""steelyard top, beside a job that runs, one that died, and none."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from harness import left_in_shared_memory, steelyard_command


def look() -> list[dict]:
    result = steelyard_command("top", "--once", "--json")
    assert result.status == 0, result.explain()
    return json.loads(result.out)["jobs"]


def jobs_of(program) -> list[dict]:
    """Those of this test: others may run on the machine."""
    return [job for job in look() if str(program) in job["command"]]


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {look()}")


@pytest.fixture
def job(mpi, tmp_path, monkeypatch):
    """A job of three ranks that goes on until it is stopped, with a name of its own."""
    for other in ("FLUX_JOB_ID", "SLURM_JOB_ID"):
        monkeypatch.delenv(other, raising=False)
    program = tmp_path / f"forever-{os.getpid()}"
    program.symlink_to(mpi.program("unbalanced.gcc"))
    head, count, _, *rest = mpi.job(3, "unbalanced.gcc", "--steps=1000000", "--work=4", "--imbalance=50",
                                    "--kernel=sleep")
    command = Path(os.environ["STEELYARD_BUILD"]) / "bin" / "steelyard"
    process = mpi.start([head, count, str(command), "run", "--record=none", "--emulate=package:1 core:6 pu:1",
                         str(program), *rest], PBS_JOBID="81.head")
    process.program = program
    yield process
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def test_running_job_is_seen_until_it_dies(job, tmp_path):
    def busy():
        found = jobs_of(job.program)
        return found and all(rank["wall"] > 0.5 for rank in found[0]["ranks"]) and found
    (seen,) = until(busy)
    assert [rank["rank"] for rank in seen["ranks"]] == [0, 1, 2]
    assert seen["ranks_of_job"] == 3 and seen["nodes"] == 1 and seen["cores"] == 6
    assert seen["seconds"] > 0.5 and 0 < seen["efficiency"] <= 1
    assert all(Path("/proc", str(rank["pid"])).exists() and rank["cores"] >= 1 for rank in seen["ranks"])
    assert sum(rank["cores"] - rank["borrowed"] for rank in seen["ranks"]) <= 6
    until(lambda: jobs_of(job.program)[0]["decisions"])

    samples = {}
    text = steelyard_command("top", "--prometheus").out
    for family in text_string_to_metric_families(text):
        assert family.documentation and family.type in ("gauge", "counter")
        for sample in family.samples:
            if int(sample.labels["pid"]) in [rank["pid"] for rank in seen["ranks"]]:
                samples.setdefault(sample.name, []).append(sample)
    assert [sample.labels["rank"] for sample in samples["steelyard_rank_cores"]] == ["0", "1", "2"]
    assert {sample.labels["job"] for sample in samples["steelyard_rank_cores"]} == {"81"}
    (cores,) = samples["steelyard_job_cores"]
    assert cores.value == 6 and cores.labels["node"] == "0"
    assert str(job.program) in samples["steelyard_job_info"][0].labels["command"]
    assert all(sample.value > 0.5 for sample in samples["steelyard_rank_wall_seconds_total"])
    useful, capacity = (sum(sample.value for sample in samples[f"steelyard_rank_{what}_thread_seconds_total"])
                        for what in ("useful", "capacity"))
    assert 0 < useful <= capacity
    file = tmp_path / "steelyard.prom"
    assert steelyard_command("top", "--prometheus", f"--output={file}").status == 0
    assert str(job.program) in file.read_text() and list(tmp_path.glob("*.prom*")) == [file]

    text = steelyard_command("top", "--once")
    assert text.status == 0 and str(job.program)[:40] in text.out and "efficiency" in text.out

    for rank in seen["ranks"]:
        try:
            os.kill(rank["pid"], signal.SIGKILL)
        except ProcessLookupError:
            pass  # the launcher ends the others as soon as one has died
    until(lambda: not jobs_of(job.program))
    assert not left_in_shared_memory()


def test_no_job(tmp_path):
    assert jobs_of(tmp_path / "never-started") == []


def test_wrong_words():
    result = steelyard_command("top", "--twice")
    assert result.status == 2 and not result.out and len(result.said) == 1
    result = steelyard_command("top", "--prometheus", "--output=/nowhere/steelyard.prom")
    assert result.status == 1 and "/nowhere/steelyard.prom: No such file" in result.said[0]

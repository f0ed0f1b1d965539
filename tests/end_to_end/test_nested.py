# SPDX-License-Identifier: BSD-3-Clause
"""Nested parallel regions: a loop of an inner team gives each iteration once, whichever teams are active beside it."""

import subprocess
from pathlib import Path

import pytest

from harness import BUILD, COMMAND, environment

TIMEOUT = 200  # seconds; a hang is a defect, a busy machine is not


def run(compiler: str, folder: Path, *arguments: str, options: tuple[str, ...] = ()) -> str:
    program = BUILD / "tests/end_to_end" / f"nested.plain.{compiler}"
    job = subprocess.run([COMMAND, "run", f"--record={folder / 'record.json'}", *options, program, *arguments],
                         text=True,
                         env=environment(), capture_output=True, timeout=TIMEOUT)
    assert job.returncode == 0 and job.stdout.startswith("all once"), job.stdout + job.stderr
    return job.stderr


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_each_shape_runs_each_iteration_once(compiler, tmp_path):
    said = run(compiler, tmp_path, "1")
    assert "has not ended" not in said and "others of its team" not in said, said


@pytest.mark.parametrize("strategy", ["steal", "guided", "static"])
def test_under_other_strategies(strategy, tmp_path):
    run("clang", tmp_path, "1", "5", "3", options=(f"--loops={strategy}",))

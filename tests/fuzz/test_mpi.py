# SPDX-License-Identifier: BSD-3-Clause
"""The generator of MPI programs: which failures under Steelyard are defects. `mpi/finds.py` has it find one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import confirm  # noqa: E402
import mpi  # noqa: E402

RIGHT = mpi.Outcome(True, 10, "fuzz: 10 operations, 0 differences")
CRASH = mpi.Outcome(False, 0, "Assertion failure in a library")
WRONG = mpi.Outcome(False, 10, "differs: rank 0, a broadcast", wrong=True)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("first", "again", "differences", "not_repeated"),
    [(RIGHT, RIGHT, 0, 0), (CRASH, RIGHT, 0, 1), (CRASH, CRASH, 1, 0), (WRONG, RIGHT, 1, 0)],
)
def test_a_crash_must_be_repeated_and_a_wrong_content_need_not(
    first: mpi.Outcome, again: mpi.Outcome, differences: int, not_repeated: int, strict: bool,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "CMakeCache.txt").write_text("STEELYARD_openmpi_RUN:FILEPATH=/usr/bin/mpirun\n")
    binary = tmp_path / "tests" / "fuzz" / "mpi" / "fuzz.openmpi.gcc"
    binary.parent.mkdir(parents=True)
    binary.touch()
    outcomes = [first, *[again] * confirm.AGAIN_MOST]
    monkeypatch.setattr(mpi.Fuzzer, "run", lambda self, program, native=False,
                        patience=0: RIGHT if native else outcomes.pop(0))
    fuzzer = mpi.Fuzzer(tmp_path, ["openmpi"], [2], 10, strict=strict)
    fuzzer.one(3, shrink_seconds=0)
    assert (fuzzer.differences, fuzzer.not_repeated) == (differences, not_repeated)
    assert fuzzer.failed == bool(differences or (strict and not_repeated))
    assert (first is RIGHT) == (first.said not in capsys.readouterr().out)
    kept = tmp_path / "fuzz" / "mpi-3.txt"
    assert kept.exists() == bool(not_repeated) and (not kept.exists() or kept.read_text() == CRASH.said)

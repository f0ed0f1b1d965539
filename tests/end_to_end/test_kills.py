# SPDX-License-Identifier: BSD-3-Clause
"""A few trials of kills.py; `cmake --build build --target kills` does many."""

import random

import pytest

from kills import campaign


# With LLVM's OpenMP runtime, which leaves more behind than GNU's when nothing is done about it.
@pytest.mark.parametrize("causes", [["kill-rank", "segv", "kill-mpirun", "exit"]], ids=["some"])
def test_killed_jobs_end_as_natively_and_leave_nothing(mpi, causes):
    wrong = campaign(mpi, len(causes), ["kills.clang"], causes, random.randrange(1 << 32))
    assert not wrong, "\n".join(wrong)

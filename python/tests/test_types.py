# SPDX-License-Identifier: BSD-3-Clause
import subprocess
import sys
from pathlib import Path

import pytest


def test_types():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

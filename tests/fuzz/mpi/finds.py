# SPDX-License-Identifier: BSD-3-Clause
"""The generator must be able to fail: finds.py BUILD FLAVOUR has it find a broadcast that is wrong under Steelyard
only."""

import re
import subprocess
import sys
from pathlib import Path

build, flavour = Path(sys.argv[1]), sys.argv[2]
runner = Path(__file__).resolve().parent.parent / "mpi.py"
shim = build / "tests" / "fuzz" / "mpi" / f"corrupt.{flavour}.so"
words = [sys.executable, runner, "--build", build, "--mpi", flavour, "--ranks", "2", "--operations", "80",
         "--programs", "12", "--seconds", "400", "--stop", "--seed", "24", "--shim", shim, "--native-seconds", "2"]
result = subprocess.run(words, text=True, stdout=subprocess.PIPE)
print(result.stdout)
assert result.returncode == 1, "the wrong broadcast was not found"
assert re.search(r"shrunk to 1 operations", result.stdout), "it was not shrunk to one operation"
assert re.search(r"--keep \d+-\d+", result.stdout), "no command repeats it"
assert result.stdout.splitlines()[-1].endswith("1 differences"), "the last line does not count it"

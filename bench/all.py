"""Runs the benchmarks of every capability, then prints one table of all their figures. Takes the options of each of them."""

import argparse
import subprocess
import sys
from pathlib import Path

import harness

CAPABILITIES = ["cores", "phases", "loops", "tasks", "collectives", "report"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, epilog="All other options are handed on; see bench/cores.py --help.")
    parser.add_argument("--build", type=Path, default=harness.TREE / "build", help="the build directory (build)")
    options, rest = parser.parse_known_args()
    here = Path(__file__).resolve().parent
    status = 0
    figures = []
    for capability in CAPABILITIES:
        out = options.build.resolve() / "bench" / f"{capability}.json"
        out.unlink(missing_ok=True)
        command = [sys.executable, str(here / f"{capability}.py"), *rest, f"--build={options.build}", f"--out={out}"]
        status |= subprocess.run(command, stdout=subprocess.DEVNULL).returncode
        figures += harness.read(out) if out.exists() else []
    print(harness.table(figures))
    return status


if __name__ == "__main__":
    sys.exit(main())

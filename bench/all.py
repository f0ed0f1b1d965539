# SPDX-License-Identifier: BSD-3-Clause
"""Runs the benchmarks of every capability, then prints one table of all their figures. Takes the options of each of
them."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import harness

CAPABILITIES = ["cores", "waits", "phases", "loops", "tasks", "collectives", "together", "report"]


def estimates(words: list[str]) -> dict[str, float]:
    """The seconds that each capability takes, of those with figures that are asked for."""
    found = {}
    for capability in CAPABILITIES:
        done = subprocess.run(command(capability, [*words, "--list"]), stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise SystemExit(done.returncode)
        if done.stdout.strip():
            # without ", only by name"
            asked = r"about (\d+) s" if any(word.startswith("--only") for word in words) else r"about (\d+) s$"
            found[capability] = sum(float(seconds) for seconds in re.findall(asked, done.stdout, re.M))
    return found


def command(capability: str, words: list[str]) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve().parent / f"{capability}.py"), *words]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, epilog="All other options are handed on; see bench/cores.py "
                                                                 "--help.")
    parser.add_argument("--build", type=Path, default=harness.TREE / "build", help="the build directory (build)")
    options, rest = parser.parse_known_args()
    if "--list" in rest:
        return max(subprocess.run(command(capability, rest)).returncode for capability in CAPABILITIES)
    status = 0
    figures = []
    left = estimates([*rest, f"--build={options.build}"])
    if not left:
        raise SystemExit("bench: no figure has such a name: bench/cores.py --list, and so on")
    for number, capability in enumerate(list(left), 1):
        print(f"bench: {capability}, {number} of {number + len(left) - 1}: about {harness.duration(left[capability])} "
              f"of {harness.duration(sum(left.values()))} left", file=sys.stderr, flush=True)
        out = options.build.resolve() / "bench" / f"{capability}.json"
        out.unlink(missing_ok=True)
        words = [*rest, f"--build={options.build}", f"--out={out}"]
        status |= subprocess.run(command(capability, words), stdout=subprocess.DEVNULL).returncode
        figures += harness.read(out) if out.exists() else []
        del left[capability]
    print(harness.table(figures))
    return status


if __name__ == "__main__":
    sys.exit(main())

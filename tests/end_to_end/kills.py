# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are killed in mid-run end as they end without Steelyard, and leave nothing behind.

    cmake --build build --target kills     200 trials with each MPI

Each trial kills a job of two ranks in one way (`CAUSES`), after a random time. A job under Steelyard must end with an
exit status with which one without it has ended, too; leave no name in /dev/shm, no process and no file."""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import harness

INSIDE = ("segv", "abort", "exit", "quit", "limit")  # by the rank itself: programs/kills.c
SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "int": signal.SIGINT}
CAUSES = INSIDE + tuple(f"{name}-{whom}" for whom in ("rank", "mpirun") for name in SIGNALS)
RANKS = 2
# A launcher that waits for its ranks before it kills them takes 5 s and more.
PATIENCE = 60
MORE_NATIVE_TRIALS = 10
# A rank ends without MPI_Finalize, and MPICH's launcher kills the others. If a killed rank was asleep, it may be gone
# before the launcher goes on. The launcher then adds SIGKILL to the exit status: in 1 of 100 native jobs whose other
# rank sleeps. Ranks that wait sleep under Steelyard, and poll without it. In 1 of 210 native jobs, and in 2 of 200 with
# Steelyard, the launcher ended with its own status 1 instead (`kills.py --mpi mpich --cause exit`).
ALSO_NATIVE = {("mpich", "exit"): {1, int(signal.SIGKILL)}, ("mpich", "quit"): {int(signal.SIGKILL)}}


@dataclass
class End:
    """How a job ended."""

    status: int
    strays: int
    left: list[str]
    errors: str


def ranks_of(tag: str) -> list[int]:
    """Processes with this in their environment; jobs mark theirs with one that no other has."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and tag.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue  # it has ended, or is another user's
    return found


def gone(tag: str) -> int:
    """Waits until a job's processes are gone; kills those that stay. Returns their number."""
    end = time.monotonic() + PATIENCE
    while (alive := ranks_of(tag)) and time.monotonic() < end:
        time.sleep(0.05)
    for process in alive:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(alive)


def in_shared_memory() -> set[str]:
    """Names that Steelyard, or LLVM's OpenMP runtime, gives; the launcher's and MPI's own are theirs to remove."""
    return {name for name in os.listdir("/dev/shm") if name.startswith(("steelyard-", "__KMP_"))}


def of_processes(names: set[str], pids: set[int]) -> list[str]:
    """Those that carry the number of one of these processes: other jobs of this machine come and go."""
    return sorted(name for name in names if pids & {int(part) for part in name.replace("-", "_").split("_")
                                                    if part.isdigit()})


def trial(mpi: harness.Mpi, program: str, cause: str, after: float, with_steelyard: bool, chance: random.Random) -> End:
    tag = f"KILLS_TRIAL={os.getpid()}.{chance.getrandbits(64):x}"
    name, value = tag.split("=")
    victim = chance.randrange(RANKS)
    how = cause if cause in INSIDE else "none"
    arguments = (how, str(victim), f"{after * 1e3:.0f}")
    words = mpi.measured(RANKS, program, *arguments) if with_steelyard else mpi.job(RANKS, program, *arguments)
    before = in_shared_memory()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        with open(f"{folder}/errors", "w+") as errors:
            job = subprocess.Popen([mpi.mpirun, *words], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=errors, start_new_session=True, cwd=folder,
                                   env=harness.environment(**{name: value}))
            pids: list[int] = []
            assert job.stdout is not None
            for line in job.stdout:
                if line.startswith("pid "):
                    pids.append(int(line.split()[1]))
                if len(pids) == RANKS:
                    break
            if cause not in INSIDE and len(pids) == RANKS:
                time.sleep(after)
                what, whom = cause.split("-")
                os.kill(job.pid if whom == "mpirun" else pids[victim], SIGNALS[what])
            try:
                job.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
            strays = gone(tag)
            job.stdout.close()
            errors.seek(0)
            said = errors.read()
        left = of_processes(in_shared_memory() - before, set(pids))
        left += [entry for entry in os.listdir(folder) if entry != "errors"]
    if mpi.record_file.exists():
        left.append(mpi.record_file.name)
        mpi.record_file.unlink()
    return End(job.returncode, strays, left, said)


def campaign(mpi: harness.Mpi, trials: int, programs: list[str], causes: list[str], seed: int) -> list[str]:
    """Returns what was wrong, as sentences; prints a table."""
    chance = random.Random(seed)
    native: dict[str, Counter[int]] = defaultdict(Counter)
    native_strays: Counter[str] = Counter()
    native_left: Counter[str] = Counter()
    ours: dict[str, Counter[int]] = defaultdict(Counter)
    wrong = []

    def run_natively(program: str, cause: str) -> None:
        end = trial(mpi, program, cause, chance.uniform(0, 0.3), False, chance)
        native[cause][end.status] += 1
        native_strays[cause] += end.strays
        native_left[cause] += len(end.left)

    def natively_ends(cause: str, status: int) -> bool:
        return status in native[cause] or status in ALSO_NATIVE.get((mpi.flavour, cause), ())

    for number in range(trials):
        cause, program = causes[number % len(causes)], chance.choice(programs)
        run_natively(program, cause)
        end = trial(mpi, program, cause, chance.uniform(0, 0.3), True, chance)
        ours[cause][end.status] += 1
        for _ in range(MORE_NATIVE_TRIALS):
            if natively_ends(cause, end.status) and (not end.strays or native_strays[cause]):
                break
            run_natively(program, cause)
        where = f"{mpi.flavour}, {program}, {cause}"
        if not natively_ends(cause, end.status):
            wrong.append(f"{where}: exit status {end.status}, natively {dict(native[cause])}\n{end.errors}")
        if end.strays and not native_strays[cause]:
            wrong.append(f"{where}: {end.strays} processes live on\n{end.errors}")
        if end.left:
            wrong.append(f"{where}: left behind {end.left}")
    print(f"{mpi.flavour}: {trials} trials with Steelyard, seed {seed}")
    for cause in causes:
        print(f"  {cause:12} with Steelyard {dict(ours[cause])}, without {dict(native[cause])}; without it "
              f"{native_strays[cause]} processes lived on, {native_left[cause]} names were left")
    print(f"  {len(wrong)} wrong", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=200, help="with each MPI")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--mpi", choices=harness.FLAVOURS, action="append")
    parser.add_argument("--cause", choices=CAUSES, action="append")
    arguments = parser.parse_args()
    wrong = []
    for flavour in arguments.mpi or harness.LAUNCHERS:
        with tempfile.TemporaryDirectory(prefix="kills-") as folder:
            mpi = harness.Mpi(flavour, Path(folder))
            programs = ["kills.clang", "kills.gcc"]
            wrong += campaign(mpi, arguments.trials, programs, arguments.cause or list(CAUSES), arguments.seed)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

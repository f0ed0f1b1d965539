"""The figures of `collectives`: broadcasts among ranks that come late, and among ranks that do not. See `--help`."""

import re
import statistics
import subprocess
import sys
import os
from typing import Callable

from harness import (Case, Failed, Figure, Measurement, Session, Target, arguments, figure, measure, mpi_variables, report)

SIZES = {"1KiB": 1 << 10, "64KiB": 1 << 16, "1MiB": 1 << 20}
LATE = 10_000  # us, that a loaded rank comes late; persistent and transient loads are up to this
PAPER = {"paper, total time %": 40}


def launch(flavour: str, ranks: int, *command: str) -> list[str]:
    return [f"mpirun.{flavour}", "-n", str(ranks), *command]


def waiting(session: Session, flavour: str, ranks: int, pattern: str, size: int, rounds: int, *options: str,
            plain: bool = False) -> Case:
    """The mean time in a broadcast by rank. With options: under Steelyard."""
    program = [session.program(f"bench/collectives.{flavour}.gcc"), "wait", pattern, str(size), str(rounds), str(LATE)]
    under = session.steelyard("collectives", *options, "--verdict=off") if options else []
    label = " ".join(options) or ("binomial" if plain else flavour)
    return Case(label, launch(flavour, ranks, *under, *program, *(["binomial"] if plain else [])), {"OMP_NUM_THREADS": "1"},
                r"wait +([0-9.]+)")


def less(ours: list[float], theirs: list[float]) -> list[float]:
    return [100 * (1 - a / b) for a, b in zip(ours, theirs)]


def late(pattern: str, ranks: int, name: str, goal: float) -> Callable[[Session], list[Figure]]:
    """Of what the better of the MPI libraries lets its ranks wait, how much is saved on the node."""

    def measured(session: Session) -> list[Figure]:
        size = SIZES[name]
        cases = []
        for flavour in FLAVOURS:
            steelyard = waiting(session, flavour, ranks, pattern, size, 40, "--collectives=on")
            steelyard.label = f"steelyard on {flavour}"
            cases += [waiting(session, flavour, ranks, pattern, size, 40), steelyard]
        times = session.interleaved(cases, 1 if session.quick else 5)
        better = min(FLAVOURS, key=lambda flavour: statistics.median(times[flavour]))
        beside = {f"{label} us": statistics.median(values) for label, values in times.items()}
        return [figure(f"{pattern}-{ranks}-{name}-{flavour}", "emulated", less(times[f"steelyard on {flavour}"], times[better]),
                       "% less time in the broadcast", Target(">=", goal), case.shell(), beside)
                for flavour, case in zip(FLAVOURS, cases[1::2])]

    return measured


def between_nodes(flavour: str, ranks: int, name: str) -> Callable[[Session], list[Figure]]:
    """Every rank a node of its own: what the policies make of a tree whose first receiver is late."""

    def measured(session: Session) -> list[Figure]:
        size = SIZES[name]
        policies = ["binomial", "swap", "sort", "auto", "library"]
        cases = [waiting(session, flavour, ranks, "first", size, 120, "--collectives=on", "--node-ranks=1", "--broadcast-every=4",
                         f"--broadcast-tree={policy}") for policy in policies]
        for case, policy in zip(cases, policies):
            case.label = policy
        cases.append(waiting(session, flavour, ranks, "first", size, 40))
        times = session.interleaved(cases, 1 if session.quick else 3)
        beside = {f"{label} us": statistics.median(values) for label, values in times.items()}
        goals = {"swap": (Target(">=", 40), PAPER), "sort": (None, {}), "auto": (None, {})}
        return [figure(f"tree-{policy}-{ranks}-{name}-{flavour}", "emulated", less(times[policy], times["binomial"]),
                       "% less time than binomial", target, cases[policies.index(policy)].shell(), beside | more)
                for policy, (target, more) in goals.items()]

    return measured


def adaptation(flavour: str, ranks: int) -> Callable[[Session], list[Figure]]:
    """Another rank becomes the late one: broadcasts until the waits are down, in optimisation periods."""

    def measured(session: Session) -> list[Figure]:
        every = 4
        case = waiting(session, flavour, ranks, "moving", SIZES["1KiB"], 240, "--collectives=on", "--node-ranks=1", "--broadcast-tree=sort",
                       f"--broadcast-every={every}")
        case.pattern = r"adapted +([0-9]+)"
        times = session.interleaved([case], 1 if session.quick else 5)[case.label]
        return [figure(f"adaptation-{ranks}-{flavour}", "emulated", [t / every for t in times], "periods", Target("<=", 3),
                       case.shell(), {"broadcasts a period": every})]

    return measured


def in_time(flavour: str, ranks: int, size: int) -> Callable[[Session], list[Figure]]:
    """All come at once: MPI_Bcast under Steelyard and the library's own PMPI_Bcast in turn, in one run."""

    def measured(session: Session) -> list[Figure]:
        blocks = 5 if session.quick else 21
        program = session.program(f"bench/collectives.{flavour}.gcc")
        command = launch(flavour, ranks, *session.steelyard("collectives", "--collectives=on", "--verdict=off"), program, "latency", str(size),
                         str(blocks))
        ratios, ours, native = [], [], []
        for number in range(1 if session.quick else 5):
            done = subprocess.run(command, env=os.environ | mpi_variables() | {"OMP_NUM_THREADS": "1"},
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
            found = re.search(r"ratio ([0-9.]+)\nours ([0-9.]+)\nnative ([0-9.]+)", done.stdout)
            if done.returncode != 0 or found is None:
                raise Failed(f"status {done.returncode}: {' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}")
            for values, text in zip((ratios, ours, native), found.groups()):
                values.append(float(text))
        return [figure(f"in-time-{ranks}-{size}B-{flavour}", "real", [100 * (r - 1) for r in ratios], "% slower than native",
                       Target("<=", 5), " ".join(command),
                       {"steelyard us": statistics.median(ours), "native us": statistics.median(native)})]

    return measured


FLAVOURS = ["openmpi", "mpich"]


def measurements(flavours: list[str], quick: bool) -> list[Measurement]:
    FLAVOURS[:] = flavours
    ranks = (8,) if quick else (8, 32)
    sizes = ["1KiB"] if quick else list(SIZES)
    everything = []
    for count in ranks:
        for name in sizes:
            for pattern, goal in (("first", 60), ("persistent", 40), ("transient", -2)):
                everything.append(Measurement(f"{pattern}-{count}-{name}", 4 if quick else 120, late(pattern, count, name, goal)))
    for flavour in flavours:
        for name in sizes[:2]:
            everything.append(Measurement(f"tree-{ranks[-1]}-{name}-{flavour}", 10 if quick else 120,
                                          between_nodes(flavour, ranks[-1], name)))
        everything.append(Measurement(f"adaptation-8-{flavour}", 5 if quick else 20, adaptation(flavour, 8)))
        for size in (8, 128) if quick else (8, 128, 1 << 10, 1 << 13, 1 << 16, 1 << 20):
            everything.append(Measurement(f"in-time-2-{size}B-{flavour}", 1 if quick else 10, in_time(flavour, 2, size)))
    return everything


def main() -> int:
    options = arguments(__doc__, "collectives")
    return report(options, measure(options, measurements(options.flavours, options.quick)))


if __name__ == "__main__":
    sys.exit(main())

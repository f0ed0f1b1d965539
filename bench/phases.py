"""The figures of `phases`: its operations beside QUO's, and what ranks that wait cost the ranks that work. See `--help`."""

import re
import statistics
import sys
from pathlib import Path
from typing import Callable

from harness import (Case, Failed, Figure, Measurement, Session, Target, arguments, figure, measure, report, run)

COSTS = {"push": "push and pop", "distribute": "distribution", "barrier": "barrier", "create": "creation of a context"}
LIBRARY: dict[str, Path] = {}  # libquo.so by MPI

# The paper's table II: per cent over the ideal.
PAPER = {"QUO in the paper": 8.24, "MPI_Barrier in the paper": 115.63}


def program(session: Session, flavour: str) -> str:
    return session.program(f"bench/phases.{flavour}.gcc")


def launch(flavour: str, ranks: int, *command: str) -> list[str]:
    return [f"mpirun.{flavour}", "-n", str(ranks), *command]


def quo(flavour: str) -> list[str]:
    return [f"--quo={LIBRARY[flavour]}"] if flavour in LIBRARY else []


def cost(flavour: str, operation: str, ranks: int) -> Callable[[Session], list[Figure]]:
    def measured(session: Session) -> list[Figure]:
        command = launch(flavour, ranks, program(session, flavour), f"--cost={operation}", *quo(flavour))
        ours, theirs = [], []
        # Both are measured in one run, batch by batch in turn.
        for number in range(1 if session.quick else 5):
            case = Case(operation, command, {"OMP_NUM_THREADS": "1"}, r"((?s:steelyard [0-9.]+\nquo [0-9.]+))")
            one, other = both(case)
            ours.append(one / 1000)
            theirs.append(other / 1000)
        name = f"{operation}-{ranks}-{flavour}"
        if flavour not in LIBRARY:
            return [figure(name, "real", ours, "us", None, case.shell(), {})]
        ratios = [b / a for a, b in zip(ours, theirs)]
        return [figure(name, "real", ratios, "x cheaper", Target(">=", 2), case.shell(),
                       {"steelyard us": statistics.median(ours), "QUO us": statistics.median(theirs)})]

    return measured


def both(case: Case) -> tuple[float, float]:
    """One run prints two numbers, and the harness takes one of a run: they come as one."""
    import os
    import subprocess

    from harness import mpi_variables
    done = subprocess.run(case.command, env=os.environ | mpi_variables() | case.variables, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300)
    found = re.search(r"steelyard ([0-9.]+)\nquo ([0-9.]+)", done.stdout)
    if done.returncode != 0 or found is None:
        raise Failed(f"{case.label}: status {done.returncode}: {case.shell()}\n{(done.stdout + done.stderr)[-2000:]}")
    return float(found.group(1)), float(found.group(2))


def table_two(flavour: str) -> Callable[[Session], list[Figure]]:
    def measured(session: Session) -> list[Figure]:
        rounds = 1 if session.quick else 9
        work = "--rounds=3000000" if session.quick else "--rounds=60000000"
        variables = {"OMP_NUM_THREADS": "2"}

        def case(label: str, ranks: int, how: str, *more: str) -> Case:
            return Case(label, launch(flavour, ranks, program(session, flavour), f"--wait={how}", work, *more), variables)

        cases = [case("ideal", 1, "alone"), case("steelyard", 2, "steelyard"), case("MPI_Barrier", 2, "mpi")]
        if flavour in LIBRARY:
            cases.append(case("QUO_barrier", 2, "quo", *quo(flavour)))
        times = session.interleaved(cases, rounds)

        def over(label: str) -> list[float]:
            return [100 * (b / a - 1) for a, b in zip(times["ideal"], times[label])]

        beside = {label + " %": statistics.median(over(label)) for label in times if label not in ("ideal", "steelyard")}
        return [figure(f"quiescing-{flavour}", "real", over("steelyard"), "% over one rank alone", Target("<=", 1),
                       cases[1].shell(), beside | PAPER)]

    return measured


def measurements(flavours: list[str], quick: bool) -> list[Measurement]:
    all_of_them = []
    for flavour in flavours:
        for operation in COSTS:
            for ranks in (1, 2, 4, 8):
                all_of_them.append(Measurement(f"{operation}-{ranks}-{flavour}", 1 if quick else 10,
                                               cost(flavour, operation, ranks)))
        all_of_them.append(Measurement(f"quiescing-{flavour}", 5 if quick else 120, table_two(flavour)))
    return all_of_them


def main() -> int:
    # --quo is ours alone; the rest is what every benchmark takes.
    rest = []
    for word in sys.argv[1:]:
        if word.startswith("--quo="):
            mpi, _, library = word[len("--quo="):].rpartition("=")
            LIBRARY[mpi or "openmpi"] = Path(library).resolve()
        else:
            rest.append(word)
    sys.argv[1:] = rest
    options = arguments(__doc__ + " --quo=[MPI=]LIBRARY: libquo.so, built for that MPI (openmpi): measured in the same run.",
                        "phases")
    flavours = ["openmpi", "mpich"] if options.mpi == "both" else [options.mpi]
    return report(options, measure(options, measurements(flavours, options.quick)))


if __name__ == "__main__":
    sys.exit(main())

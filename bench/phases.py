"""The figures of `phases`: its operations beside QUO's, and what ranks that wait cost the ranks that work. See `--help`."""

import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable

from harness import (Case, Failed, Figure, Measurement, Session, Target, arguments, figure, measure, mpi_variables, report)

COSTS = {"push": "push and pop", "distribute": "distribution", "barrier": "barrier", "create": "creation of a context"}
CORES = 16  # of the emulated node
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


def sent_messages(session: Session, ranks: int, creations: int) -> int:
    """By the busiest rank, as Open MPI's own monitoring counts them: those inside of collectives too."""
    with tempfile.TemporaryDirectory() as folder:
        monitor = [word for name, value in (("enable", "1"), ("enable_output", "3"), ("filename", f"{folder}/sent"))
                   for word in ("--mca", f"pml_monitoring_{name}", value)]
        command = launch("openmpi", ranks, *monitor, program(session, "openmpi"), f"--creations={creations}")
        done = subprocess.run(command, env=os.environ | mpi_variables(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300)
        if done.returncode != 0:
            raise Failed(f"creation: status {done.returncode}: {' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}")
        return max(sum(int(line.split()[5]) for line in file.read_text().splitlines() if line[:1] in "EI")
                   for file in Path(folder).iterdir())


def creation_messages(session: Session) -> list[Figure]:
    ranks = (2, 4) if session.quick else (4, 8, 16, 32)
    sent = {n: (sent_messages(session, n, 20) - sent_messages(session, n, 0)) / 20 for n in ranks}
    return [figure("creation-messages", "counted", [sent[ranks[-1]] / sent[ranks[-3:][0]]],
                   "x for 4 x the ranks", Target("<=", 2), f"phases --creations=20, {ranks[-1]} ranks",
                   {f"messages of the busiest of {n} ranks": count for n, count in sent.items()})]


def mixed(flavour: str, threads: int, percent: int) -> Callable[[Session], list[Figure]]:
    """The paper's equation 1: what a rank a core and phases gain over as few ranks as the threaded library needs."""

    def measured(session: Session) -> list[Figure]:
        emulated = {"HWLOC_SYNTHETIC": "package:2 core:8 pu:1", "OMP_WAIT_POLICY": "passive"}
        what = [program(session, flavour), f"--mixed={percent}", f"--threads={threads}"]
        under = Case("under-subscribed", launch(flavour, CORES // threads, *what, "--under"),
                     emulated | {"OMP_NUM_THREADS": str(threads)})
        phases = Case("phases", launch(flavour, CORES, *what), emulated | {"OMP_NUM_THREADS": "1"})
        times = session.interleaved([under, phases], 1 if session.quick else 5)
        part = percent / 100
        equation = 1 / (part / threads + 1 - part)
        gains = [a / b for a, b in zip(times["under-subscribed"], times["phases"])]
        shortfalls = [100 * (1 - gain / equation) for gain in gains]
        return [figure(f"mixed-{threads}-threads-{percent}-{flavour}", "emulated", shortfalls, "% below equation 1",
                       Target("<=", 3), phases.shell(), {"speed-up": statistics.median(gains), "equation 1": equation})]

    return measured


def measurements(flavours: list[str], quick: bool) -> list[Measurement]:
    all_of_them = []
    for flavour in flavours:
        for operation in COSTS:
            for ranks in (1, 2, 4, 8):
                all_of_them.append(Measurement(f"{operation}-{ranks}-{flavour}", 1 if quick else 10,
                                               cost(flavour, operation, ranks)))
        all_of_them.append(Measurement(f"quiescing-{flavour}", 5 if quick else 120, table_two(flavour)))
        for threads in (8, 16):
            for percent in (30, 50, 70, 90):
                all_of_them.append(Measurement(f"mixed-{threads}-threads-{percent}-{flavour}", 5 if quick else 25,
                                               mixed(flavour, threads, percent)))
    if "openmpi" in flavours:
        all_of_them.append(Measurement("creation-messages", 20, creation_messages))
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
    return report(options, measure(options, measurements(options.flavours, options.quick)))


if __name__ == "__main__":
    sys.exit(main())

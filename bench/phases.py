# SPDX-License-Identifier: BSD-3-Clause
"""The figures of `phases`: its operations beside QUO's, and what ranks that wait cost the ranks that work. See
`--help`."""

import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Callable

from harness import (TREE, Case, Failed, Figure, Measurement, Session, Target, arguments, figure, measure,
                     mpi_variables, numbers, report)

COSTS = {"push": "push and pop", "distribute": "distribution", "barrier": "barrier", "create": "creation of a context"}
CORES = 16  # of the emulated node
PARTS = (30, 50, 70, 90)  # per cent of the under-subscribed run in which ranks work alone
LIBRARY: dict[str, Path] = {}  # libquo.so by MPI

PHASES = 10  # of a run with --wait
BIND_TO_CORE = {"openmpi": ["--bind-to", "core"], "mpich": ["-bind-to", "core"]}

# The paper's table II: per cent over the ideal.
PAPER = {"QUO in the paper": 8.24, "MPI_Barrier in the paper": 115.63}


def program(session: Session, flavour: str) -> str:
    return session.program(f"bench/phases.{flavour}.gcc")


def launch(flavour: str, ranks: int, *command: str) -> list[str]:
    return [f"mpirun.{flavour}", "-n", str(ranks), *command]


def library_at(path: Path) -> Path:
    """libquo.so: the path, or below it in a build or installed tree."""
    if not path.is_dir():
        return path
    found = sorted(path.rglob("libquo.so"))
    if not found:
        sys.exit(f"bench: there is no libquo.so in {path}: build QUO there first (./configure CC=mpicc && make)")
    return found[0]


def quo(flavour: str) -> list[str]:
    return [f"--quo={LIBRARY[flavour]}"] if flavour in LIBRARY else []


def cost(flavour: str, operation: str, ranks: int) -> Callable[[Session], list[Figure]]:
    def measured(session: Session) -> list[Figure]:
        command = launch(flavour, ranks, program(session, flavour), f"--cost={operation}", *quo(flavour))
        ours, theirs = [], []
        # Both are measured in one run, batch by batch in turn.
        for number in range(1 if session.quick else 5):
            case = Case(operation, command, {"OMP_NUM_THREADS": "1"}, r"(?:steelyard|quo) ([0-9.]+)")
            one, other = numbers(case, 300)
            ours.append(one / 1000)
            theirs.append(other / 1000)
        name = f"{operation}-{ranks}-{flavour}"
        if flavour not in LIBRARY:
            return [figure(name, "real", ours, "us", None, case.shell(), {})]
        ratios = [b / a for a, b in zip(ours, theirs)]
        return [figure(name, "real", ratios, "x cheaper", Target(">=", 2), case.shell(),
                       {"steelyard us": statistics.median(ours), "QUO us": statistics.median(theirs)})]

    return measured


def table_two(flavour: str, bound: bool) -> Callable[[Session], list[Figure]]:
    """The paper's table II: as there, ranks are bound to a core each; or not, where workers may spin on others'
    cores."""

    def measured(session: Session) -> list[Figure]:
        rounds = 1 if session.quick else 15
        work = "--rounds=3000000" if session.quick else "--rounds=60000000"
        variables = {"OMP_NUM_THREADS": "2"}

        def case(label: str, how: str, *more: str) -> Case:
            ranks = 1 if how == "alone" else 2
            binding = BIND_TO_CORE[flavour] if bound and ranks > 1 else []
            command = [program(session, flavour), f"--wait={how}", work, *more]
            return Case(label, [*launch(flavour, ranks, *binding), *command], variables,
                        r"(?:seconds|around the computing) ([0-9.]+)")

        cases = [case("ideal", "alone"), case("steelyard", "steelyard"), case("MPI_Barrier", "mpi")]
        if flavour in LIBRARY:
            cases.append(case("QUO_barrier", "quo", *quo(flavour)))
        runs = session.interleaved(cases, rounds, read=numbers)
        times = {label: [total for total, _ in found] for label, found in runs.items()}

        def over(label: str) -> list[float]:
            return [100 * (b / a - 1) for a, b in zip(times["ideal"], times[label])]

        beside = {label + " %": statistics.median(over(label))
                  for label in times if label not in ("ideal", "steelyard")}
        more = [b - a for a, b in zip(times["ideal"], times["steelyard"])]
        around = [part for _, part in runs["steelyard"]]
        beside["ms of an ideal phase"] = 1000 * statistics.median(times["ideal"]) / PHASES
        beside["ms more a phase"] = 1000 * statistics.median(more) / PHASES
        beside["ms to enter and leave"] = 1000 * statistics.median(around) / PHASES
        return [figure(f"quiescing-{'bound' if bound else 'unbound'}-{flavour}", "real", over("steelyard"),
                       "% over one rank alone", Target("<=", 1), cases[1].shell(), beside | PAPER)]

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
            raise Failed(f"creation: status {done.returncode}: "
                         f"{' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}")
        return max(sum(int(line.split()[5]) for line in file.read_text().splitlines() if line[:1] in "EI")
                   for file in Path(folder).iterdir())


def creation_messages(session: Session) -> list[Figure]:
    ranks = (2, 4) if session.quick else (4, 8, 16, 32)
    sent = {n: (sent_messages(session, n, 20) - sent_messages(session, n, 0)) / 20 for n in ranks}
    return [figure("creation-messages", "counted", [sent[ranks[-1]] / sent[ranks[-3:][0]]],
                   "x for 4 x the ranks", Target("<=", 2), f"phases --creations=20, {ranks[-1]} ranks",
                   {f"messages of the busiest of {n} ranks": count for n, count in sent.items()})]


def simulated_creation(ranks: int) -> Callable[[Session], list[Figure]]:
    """Figure 6 of the paper, where it depends on all ranks: 16 a node. The messages are counted in SimGrid's trace, and
    are those of a run that creates nothing less. Only messages take time."""

    def measured(session: Session) -> list[Figure]:
        variables = {"ranks_per_node": str(CORES), "HWLOC_SYNTHETIC": "package:2 core:8 pu:1"}
        settings = ("smpi/allgather:bruck", "smpi/allreduce:rdb", "tracing:yes", "tracing/smpi:yes",
                    "tracing/smpi/internals:yes", "tracing/smpi/display-sizes:yes")

        def run(what: str, trace: str) -> tuple[Case, list[float], Counter[str], int]:
            command = [str(TREE / "sim/simulate.sh"), str(ranks), *(f"--cfg={setting}" for setting in settings),
                       f"--cfg=tracing/filename:{trace}", session.program("sim/phases_smpi"), what]
            case = Case(what, command, variables, r"(?:create|shared) ([0-9.]+)")
            found = numbers(case, 600)
            text = Path(trace).read_text()
            kind = re.search(r"^%EventDef PajeStartLink (\d+)$", text, re.MULTILINE)  # a message
            links = [line.split() for line in text.splitlines() if kind and line.startswith(kind[1] + " ")]
            if not links:
                raise Failed(f"{what}: SimGrid's trace has no messages: {case.shell()}")
            # Its columns: event, time, type, container, value, sender, key, size.
            return case, found, Counter(link[5] for link in links), sum(int(link[7]) for link in links)

        with tempfile.TemporaryDirectory() as folder:
            case, (microseconds, shared), sent, sent_bytes = run("create", f"{folder}/trace")
            _, _, sent_else, bytes_else = run("nothing", f"{folder}/trace")
        sent.subtract(sent_else)
        return [figure(f"simulated-create-{ranks}", "simulated", [max(sent.values())], "messages of the busiest rank",
                       Target("<=", 2 * ranks.bit_length() + 2 * CORES), case.shell(), {
                           "messages a rank": sent.total() / ranks, "ms": microseconds / 1000,
                           "KiB sent a rank": (sent_bytes - bytes_else) / ranks / 1024,
                           "KiB of shared memory a node": shared,
                           "QUO in the paper, 2,048 ranks, real, ms": 100})]

    return measured


def mixed(flavour: str, threads: int) -> Callable[[Session], list[Figure]]:
    """The paper's equation 1: what a rank a core and phases gain over as few ranks as the threaded library needs."""

    def measured(session: Session) -> list[Figure]:
        emulated = {"HWLOC_SYNTHETIC": "package:2 core:8 pu:1", "OMP_WAIT_POLICY": "passive"}
        what = [program(session, flavour), "--mixed=" + ",".join(map(str, PARTS)), f"--threads={threads}"]
        under = Case("under-subscribed", launch(flavour, CORES // threads, *what, "--under"),
                     emulated | {"OMP_NUM_THREADS": str(threads)})
        phases = Case("phases", launch(flavour, CORES, *what), emulated | {"OMP_NUM_THREADS": "1"})
        times = session.interleaved([under, phases], 1 if session.quick else 5, read=numbers)

        def at(place: int) -> Figure:
            part = PARTS[place] / 100
            equation = 1 / (part / threads + 1 - part)
            gains = [a[place] / b[place] for a, b in zip(times["under-subscribed"], times["phases"])]
            return figure(f"mixed-{threads}-threads-{PARTS[place]}-{flavour}", "emulated",
                          [100 * (1 - gain / equation) for gain in gains], "% below equation 1", Target("<=", 3),
                          phases.shell(), {"speed-up": statistics.median(gains), "equation 1": equation})

        return [at(place) for place in range(len(PARTS))]

    return measured


def measurements(flavours: list[str], quick: bool) -> list[Measurement]:
    all_of_them = []
    for flavour in flavours:
        for operation in COSTS:
            for ranks in (1, 2, 4, 8):
                all_of_them.append(Measurement(f"{operation}-{ranks}-{flavour}", 1 if quick else 10,
                                               cost(flavour, operation, ranks)))
        for bound in (True, False):
            all_of_them.append(Measurement(f"quiescing-{'bound' if bound else 'unbound'}-{flavour}",
                                           5 if quick else 120,
                                           table_two(flavour, bound)))
        for threads in (8, 16):
            all_of_them.append(Measurement(f"mixed-{threads}-threads-{flavour}", 8 if quick else 40,
                                           mixed(flavour, threads)))
    if "openmpi" in flavours:
        all_of_them.append(Measurement("creation-messages", 20, creation_messages))
    for ranks in (16, 128) if quick else (16, 128, 2048):
        all_of_them.append(Measurement(f"simulated-create-{ranks}", 40 if ranks > 1000 else 2,
                                       simulated_creation(ranks)))
    return all_of_them


def main() -> int:
    # --quo is ours alone; the rest is what every benchmark takes.
    rest = []
    for word in sys.argv[1:]:
        if word.startswith("--quo="):
            mpi, _, library = word[len("--quo="):].rpartition("=")
            LIBRARY[mpi or "openmpi"] = library_at(Path(library).resolve())
        else:
            rest.append(word)
    sys.argv[1:] = rest
    options = arguments(__doc__ + " --quo=[MPI=]PATH: libquo.so, built for that MPI (openmpi), or a directory that has "
                                  "it: measured in the same run.",
                        "phases")
    return report(options, measure(options, measurements(options.flavours, options.quick)))


if __name__ == "__main__":
    sys.exit(main())

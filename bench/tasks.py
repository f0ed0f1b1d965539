# SPDX-License-Identifier: BSD-3-Clause
"""The figures of `tasks`: efficiency of DLB_Bench, trees that are searched, what a task and a steal cost, and thousands
of processes in the model of sim/. --titus=DIR: the folder of TITUS_DLB, built for Open MPI, whose own DLB_Bench is
measured in the same rounds as the pool. See `--help`."""

import re
import subprocess
import sys
from typing import Callable

import titus
from harness import TREE, Case, Failed, Figure, Measurement, Session, Target, arguments, figure, measure, report


def launch(flavour: str, ranks: int, program: str, *words: str) -> list[str]:
    return [f"mpirun.{flavour}", "-n", str(ranks), program, *words]


def program(session: Session, flavour: str) -> str:
    return session.program(f"bench/tasks.{flavour}.g++")


def efficiency(flavour: str, ranks: int, seconds: int, least: float) -> Callable[[Session], list[Figure]]:
    """Sleeping tasks, 70 % of them on 10 % of the ranks: on one node, and with each rank as a node of its own."""

    def measured(session: Session) -> list[Figure]:
        words = ["dlb", f"seconds={0.2 if session.quick else seconds}"]
        there = program(session, flavour)
        pattern = r"lost 0\n"  # no result may be missing

        def case(label: str, what: str, *more: str) -> Case:
            return Case(label, launch(flavour, ranks, there, *words, *more), {"OMP_NUM_THREADS": "1"},
                        rf"{what} ([0-9.]+)\n(?=(?s:.*){pattern})")

        cases = [case("node", "efficiency"), case("measured", "measured"), case("messages", "efficiency", "node=1"),
                 case("none", "efficiency", "policy=none")]
        found = session.interleaved(cases, 1 if session.quick else 5)
        beside = {"by measured work %": found["measured"], "through messages %": found["messages"],
                  "no stealing %": found["none"]}
        return [figure(f"dlb-{ranks}-ranks-{seconds}s-{flavour}", "emulated", found["node"], "%", Target(">=", least),
                       cases[0].shell(), {label: sorted(values)[len(values) // 2] for label, values in beside.items()})]

    return measured


def trees(flavour: str, tree: str) -> Callable[[Session], list[Figure]]:
    def measured(session: Session) -> list[Figure]:
        there = program(session, flavour)
        exact = r"exact 1\nseconds ([0-9.]+)"
        cases = [Case(str(ranks), launch(flavour, ranks, there, "uts", f"tree={tree}"), {"OMP_NUM_THREADS": "1"}, exact)
                 for ranks in (1, 2, 3, 4, 7)]
        found = session.interleaved(cases[:2], 1 if session.quick else 7)
        session.interleaved(cases[2:], 1)  # a wrong number of nodes is a failure
        return [figure(f"uts-{tree}-{flavour}", "real", [a / b for a, b in zip(found["1"], found["2"])], "x on 2 ranks",
                       Target(">=", 1.85), cases[1].shell(), {})]

    return measured


def cost(what: str, ranks: int, number: str, unit: str, most: float) -> Callable[[Session], list[Figure]]:
    def measured(session: Session) -> list[Figure]:
        case = Case(what, launch("openmpi", ranks, program(session, "openmpi"), what), {"OMP_NUM_THREADS": "1"},
                    rf"{number} ([0-9.]+)")
        found = session.interleaved([case], 1 if session.quick else 5)
        return [figure(what, "real", found[what], unit, Target("<=", most) if most > 0 else None, case.shell(), {})]

    return measured


def progress(flavour: str, name: str, ranks: int, words: list[str], beside: dict[str, list[str]],
             ) -> Callable[[Session], list[Figure]]:
    """A task of 3 s on the first node, whose last rank has 200 short ones: when the last of these has ended."""

    def measured(session: Session) -> list[Figure]:
        there = program(session, flavour)

        def case(label: str, what: str, more: list[str]) -> Case:
            return Case(label, launch(flavour, ranks, there, "progress", *more), {"OMP_NUM_THREADS": "1"},
                        rf"{what} ([0-9.]+)\n(?=(?s:.*)lost 0\n)")

        cases = [case("all", "seconds", words), case("first remote task, ms", "first", words),
                 case("last result, s", "home", words)]
        cases += [case(f"{label}, s", "seconds", more) for label, more in beside.items()]
        found = session.interleaved(cases, 1 if session.quick else 3)
        shown = {case.label: sorted(found[case.label])[len(found[case.label]) // 2] for case in cases[1:]}
        return [figure(f"progress-{name}-{flavour}", "emulated", found["all"], "s", Target("<=", 0.9),
                       cases[0].shell(), shown)]

    return measured


def model(name: str, words: list[str], least: float, limit: float = 900) -> Callable[[Session], list[Figure]]:
    """The discrete-event model: its other policies stand beside."""

    def measured(session: Session) -> list[Figure]:
        command = [session.program("sim/tasks_model"), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        rows = {row[0]: row for row in re.findall(r"^(\S+) +efficiency +([0-9.]+) %.*?most +([0-9]+)", done.stdout,
                                                  re.M)}
        if done.returncode != 0 or "small-world" not in rows:
            raise Failed(f"tasks_model: status {done.returncode}: {' '.join(command)}\n{done.stderr[-1000:]}")
        beside = {f"{policy} %": float(row[1]) for policy, row in rows.items() if policy != "small-world"}
        beside |= {f"{policy} connections": float(row[2]) for policy, row in rows.items()}
        return [figure(name, "simulated", [float(rows["small-world"][1])], "%", Target(">=", least), " ".join(command),
                       beside)]

    return measured


def simulated(name: str, ranks: int, words: list[str], least: float) -> Callable[[Session], list[Figure]]:
    """The pool itself, on SimGrid's ranks; beside it what the model says of the same."""

    def measured(session: Session) -> list[Figure]:
        there = [str(TREE / "sim/simulate.sh"), str(ranks), session.program("sim/tasks_smpi")]
        cases = [Case(policy, [*there, "dlb", *words, f"policy={policy}", *more], {},
                      r"efficiency ([0-9.]+)\n(?=(?s:.*)lost 0\n)")
                 for policy, more in (("small-world", []), ("random", []), ("groups", ["node=1"]))]
        cases.append(Case("model", [session.program("sim/tasks_model"), f"processes={ranks}", *words,
                                    "policies=small-world"], {}, r"efficiency +([0-9.]+)"))
        found = session.interleaved(cases, 1)
        beside = {f"{case.label} %": found[case.label][0] for case in cases[1:]}
        return [figure(name, "simulated", found["small-world"], "%", Target(">=", least), cases[0].shell(), beside)]

    return measured


def measurements(flavours: list[str], quick: bool) -> list[Measurement]:
    all_of_them = [Measurement("cost", 10, cost("cost", 1, "task", "ns", 150)),
                   Measurement("steal", 10, cost("steal", 2, "us", "us", 5)),
                   Measurement("empty", 5, cost("empty", 2, "us", "us for a run without tasks", 0))]
    for flavour in flavours:
        all_of_them.append(Measurement(f"progress-neighbour-{flavour}", 50, progress(
            flavour, "neighbour", 4, ["node=2"], {"long task beside the link": ["node=2", "busy=1"]})))
        all_of_them.append(Measurement(f"progress-alone-{flavour}", 50, progress(
            flavour, "alone", 2, ["node=1", "tasks=60", "level=multiple"],
            {"with MPI_THREAD_FUNNELED": ["node=1", "tasks=60"]})))
        for ranks in (16, 64):
            for seconds, least in ((5, 95), (1, 90)):
                all_of_them.append(Measurement(f"dlb-{ranks}-ranks-{seconds}s-{flavour}", 5 if quick else 150,
                                               efficiency(flavour, ranks, seconds, least)))
        for tree in ("T1", "T3"):
            all_of_them.append(Measurement(f"uts-{tree}-{flavour}", 15 if quick else 60, trees(flavour, tree)))
    ranks = 56 if quick else 896
    all_of_them.append(Measurement(f"simulated-{ranks}-1s", 20 if quick else 120, simulated(
        f"simulated-{ranks}-1s", ranks, ["seconds=1", "tasks=20" if quick else "tasks=200", "bytes=2e5"], 85)))
    for seconds, least in ((10, 97), (5, 95), (1, 85)):
        all_of_them.append(Measurement(f"model-3584-{seconds}s", 60, model(
            f"model-3584-{seconds}s", [f"seconds={seconds}", "tasks=200"], least)))
    if not quick:
        all_of_them.append(Measurement("model-10000-10s", 120, model(
            "model-10000-10s", ["processes=10000", "seconds=10", "tasks=200", "policies=small-world"], 90)))
        million = ["processes=1000000", "seconds=10", "tasks=100", "policies=small-world"]
        all_of_them.append(Measurement("model-1000000-10s", 700, model("model-1000000-10s", million, 90, 3600),
                                       only_by_name=True))
    return all_of_them


def main() -> int:
    # --titus is ours alone; the rest is what every benchmark takes.
    folders = [word.partition("=")[2] for word in sys.argv[1:] if word.startswith("--titus=")]
    sys.argv[1:] = [word for word in sys.argv[1:] if not word.startswith("--titus=")]
    programs = [titus.program_in(folder) for folder in folders[-1:]]
    options = arguments(__doc__, "tasks")
    if programs and "openmpi" not in options.flavours:
        raise SystemExit("bench: --titus is measured with Open MPI only: leave out --mpi=mpich")
    beside = [m for program in programs for m in titus.measurements(program, options.quick)]
    figures = measure(options, measurements(options.flavours, options.quick) + beside)
    status = report(options, figures)
    print(titus.table(figures), end="\n" if beside else "")
    return status


if __name__ == "__main__":
    sys.exit(main())

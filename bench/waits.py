# SPDX-License-Identifier: BSD-3-Clause
"""The figures of waits in MPI: what they cost the late rank. See `--help` and `--list`."""

import sys
from statistics import median
from typing import Callable

from cores import RANKS, STEP_WORK_MS, THREADS, TOPOLOGY, mpirun, sleepers, unbalanced
from harness import YIELD, Case, Figure, Measurement, Session, Target, figure, main

BINDING = {("openmpi", "bound"): ["--bind-to", "core:overload-allowed"], ("openmpi", "unbound"): ["--bind-to", "none"],
           ("mpich", "bound"): ["-bind-to", "core"], ("mpich", "unbound"): ["-bind-to", "none"]}
TARGET_MS = 0.1  # of two ranks


def late_rank(flavour: str, ranks: int, binding: str) -> Callable[[Session], list[Figure]]:
    """The barrier of the rank for which all others wait. More ranks than cores have no known bound: only native's."""

    def measured(session: Session) -> list[Figure]:
        name = f"late-rank-{ranks}-{binding}-{flavour}"
        rounds = 1 if session.quick else 7
        program = [session.program(f"bench/late_rank.{flavour}.gcc"), "8" if session.quick else "40"]

        def case(label: str, options: list[str] | None, variables: dict[str, str]) -> Case:
            launch = [] if options is None else session.steelyard(name, *options)
            command = mpirun(flavour, ranks, launch + program)
            command[1:1] = BINDING[flavour, binding]
            return Case(label, command, {"OMP_NUM_THREADS": "1"} | variables)

        ours = case("with Steelyard", [], {})
        cases = [ours, case("native", None, {}), case("--lending=off", ["--lending=off"], {})]
        if flavour == "openmpi":
            cases.append(case("native, yielding", None, YIELD))
        measured_seconds = session.interleaved(cases, rounds)
        times = {label: [1000 * second for second in seconds] for label, seconds in measured_seconds.items()}
        values = times.pop(ours.label)
        native = median(times.get("native, yielding", times["native"]))
        bound = TARGET_MS if ranks == 2 else native
        return [figure(name, "real", values, "ms", Target("<=", bound, or_same=True), ours.shell(),
                       {label: median(samples) for label, samples in times.items()})]

    return measured


def exchange(flavour: str, us: int, size: int) -> Callable[[Session], list[Figure]]:
    """Two ranks wait for each other's messages only. No rank could use another core: the time should be native's."""

    def measured(session: Session) -> list[Figure]:
        name = f"exchange-{us}us-{size}B-{flavour}"
        count = 100 if session.quick else 200_000 if us == 0 and size < 1024 else 2000
        program = [session.program(f"bench/exchange.{flavour}.gcc"), str(count), str(us), str(size)]

        def case(label: str, options: list[str] | None) -> Case:
            launch = [] if options is None else session.steelyard(name, *options)
            return Case(label, mpirun(flavour, 2, launch + program), {"OMP_NUM_THREADS": "1"})

        ours, native = case("with Steelyard", []), case("native", None)
        times = session.interleaved([native, ours, case("--lending=off", ["--lending=off"])],
                                    1 if session.quick else 7)
        ratios = [b / a for a, b in zip(times[native.label], times[ours.label])]
        return [figure(name, "real", ratios, "of native", Target("<=", 1.05), ours.shell(),
                       {f"{label}, s": median(samples) for label, samples in times.items() if label != ours.label})]

    return measured


def emulated_waits(session: Session) -> list[Figure]:
    """What observation and waits alone make of an emulated run: the figures of moved cores contain it."""
    name = "emulated-waits"
    steps, rounds = (10, 1) if session.quick else (100, 5)
    program = [unbalanced(session, "openmpi"), "--kernel=sleep", f"--work={STEP_WORK_MS}", "--imbalance=100",
               f"--steps={steps}"]
    launch = session.steelyard(name, f"--emulate={TOPOLOGY}", "--observe")
    ours = Case("with Steelyard", mpirun("openmpi", RANKS, launch + program), sleepers(THREADS))
    native = Case("native, yielding", mpirun("openmpi", RANKS, program), sleepers(THREADS))
    times = session.interleaved([native, ours], rounds)
    ratios = [b / a for a, b in zip(times[native.label], times[ours.label])]
    return [figure(name, "emulated", ratios, "of native", Target("<=", 1.02), ours.shell(),
                   {"native, s": median(times[native.label])})]


def measurements(flavours: list[str], quick: bool) -> list[Measurement]:
    all_of_them = [Measurement(f"late-rank-{ranks}-{binding}-{flavour}", 60 if flavour == "openmpi" else 45,
                               late_rank(flavour, ranks, binding))
                   for flavour in flavours for ranks in (2, 8) for binding in ("unbound", "bound")]
    all_of_them += [Measurement(f"exchange-{us}us-{size}B-{flavour}", 15, exchange(flavour, us, size))
                    for flavour in flavours for us, size in ((0, 4), (30, 4), (100, 4), (300, 4), (0, 1 << 20))]
    if "openmpi" in flavours:
        all_of_them.append(Measurement("emulated-waits", 90, emulated_waits))
    if quick:
        for m in all_of_them:
            m.seconds /= 20
    return all_of_them


if __name__ == "__main__":
    sys.exit(main(__doc__, "waits", measurements))

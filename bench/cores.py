# SPDX-License-Identifier: BSD-3-Clause
"""The figures of `cores`: an unmodified program's cores rebalanced and lent, and what that costs. See `--help` and
`--list`."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from statistics import median
from typing import Callable, Sequence

import analytic
from harness import YIELD, Case, Failed, Figure, Measurement, Session, Target, figure, main, mpi_variables

# The emulated node: threads sleep instead of computing. More threads than cores must not spin.
TOPOLOGY = "package:2 core:24 pu:1"
PACKAGES = [24, 24]
RANKS, THREADS = 8, 6
STEP_MS = 60  # of the mean rank
STEP_WORK_MS = STEP_MS * THREADS

# The paper's table II: reductions of MiniFE's time, in per cent, balanced at a step that was chosen by hand.
PAPER_MINIFE = {(8, 100): 10, (8, 200): 24, (8, 500): 30, (16, 500): 2}

# Real cores. A fixed length of the iterations: every run has the same work, however busy the machine is at its start.
ROUNDS = "--rounds=16000"


def mpirun(flavour: str, ranks: int, command: list[str]) -> list[str]:
    return [f"mpirun.{flavour}", "-n", str(ranks), *command]


def unbalanced(session: Session, flavour: str) -> str:
    return session.program(f"examples/unbalanced.{flavour}.clang")


def sleepers(threads: int) -> dict[str, str]:
    return {"OMP_NUM_THREADS": str(threads), "KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0"} | YIELD


def emulated_pair(session: Session, flavour: str, name: str, *what: str, options: tuple[str, ...] = (),
                  ranks: int = RANKS, threads: int = THREADS) -> tuple[Case, Case]:
    program = [unbalanced(session, flavour), "--kernel=sleep", f"--work={STEP_MS * threads}", *what]
    launch = session.steelyard(name, f"--emulate={TOPOLOGY}", *options)
    variables = sleepers(threads)
    return (Case("native", mpirun(flavour, ranks, program), variables),
            Case("with Steelyard", mpirun(flavour, ranks, launch + program), variables))


def instrument_error(native: list[float], steps: int, work: list[int], threads: int = THREADS) -> float:
    """Per cent by which the emulated native run was longer than it had to be."""
    ideal = steps * float(analytic.makespan(work, [threads] * len(work)) * analytic.ITERATION_MS) / 1000
    return 100 * (median(native) / ideal - 1)


def sabo(at: int) -> tuple[str, ...]:
    """The paper's own rule, once, at a step that is chosen by hand; it lends nothing."""
    return "--cores=sabo", f"--balance-at={at}", "--lending=off"


def minife(flavour: str, imbalance: int, ranks: int = RANKS,
           balanced_at: Sequence[int] = (2,)) -> Callable[[Session], list[Figure]]:
    """The paper's table II, and its figure 3 where its rule is applied at several steps."""

    def measured(session: Session) -> list[Figure]:
        threads = sum(PACKAGES) // ranks
        name = f"minife-{imbalance}" if ranks == RANKS else f"{ranks}-ranks-{imbalance}"
        if len(balanced_at) > 1:
            name = f"steps-of-sabo-{imbalance}"
        steps, rounds = (10, 1) if session.quick else (200, 3)
        at_steps = [min(at, steps - 1) for at in balanced_at]
        program = f"--imbalance={imbalance}", f"--steps={steps}"

        def pair(*options: str) -> tuple[Case, Case]:
            return emulated_pair(session, flavour, name, *program, options=options, ranks=ranks, threads=threads)

        native, ours = pair()
        by_rule = [replace(pair(*sabo(at))[1], label=f"SABO's rule at step {at}") for at in at_steps]
        times = session.interleaved([native, ours, *by_rule], rounds)
        gains, *of_rule = ([100 * (1 - b / a) for a, b in zip(times["native"], times[case.label])]
                           for case in (ours, *by_rule))
        work = analytic.iterations(analytic.unbalanced_loads(ranks, imbalance), STEP_MS * threads)
        even = [threads] * ranks
        best = analytic.reduction(work, even, analytic.optimal_threads(work, PACKAGES))
        beside = {"analytic optimum": best, "difference, points": median(gains) - best,
                  "SABO's rule (--cores=sabo)": median(of_rule[0])}
        beside |= {f"at step {at}": median(found) for at, found in zip(at_steps[1:], of_rule[1:])}
        by_paper = analytic.reduction(work, even, analytic.paper_threads(work, PACKAGES))
        beside |= {"the paper's rule (analytic)": by_paper, "the paper's MiniFE": PAPER_MINIFE[ranks, imbalance],
                   "error of the instrument, %": instrument_error(times["native"], steps, work, threads)}
        return [figure(name, "emulated", gains, "% less time", Target(">=", best - 3), ours.shell(), beside)]

    return measured


def several_nodes(flavour: str) -> Callable[[Session], list[Figure]]:
    """What a balanced program pays on 1, 2 and 4 virtual nodes of 8 ranks. The reference are runs in which nothing
    moves: they wait alike. Natively, 32 ranks on 2 real cores would poll."""

    def measured(session: Session) -> list[Figure]:
        steps, rounds = (10, 1) if session.quick else (100, 3)
        found = []
        for nodes in (1, 2, 4):
            name = f"several-nodes-{nodes}"
            program = "--imbalance=0", f"--steps={steps}"
            ours, rule, waits = (
                replace(emulated_pair(session, flavour, name, *program, options=(f"--ranks-per-node={RANKS}", *how),
                                      ranks=nodes * RANKS)[1], label=label)
                for label, how in (("with Steelyard", ()), ("SABO's rule", sabo(2)),
                                   ("nothing moves", ("--cores=off", "--lending=off"))))
            times = session.interleaved([waits, ours, rule], rounds)
            more, of_rule = ([100 * (b / a - 1) for a, b in zip(times[waits.label], times[case.label])]
                             for case in (ours, rule))
            beside = {"SABO's rule (--cores=sabo)": median(of_rule), "the paper's (V.D), one node, real": 0.4}
            found.append(figure(name, "emulated", more, "% more time, equal loads", Target("<=", 1), ours.shell(),
                                beside))
        return found

    return measured


def drift(flavour: str) -> Callable[[Session], list[Figure]]:
    def measured(session: Session) -> list[Figure]:
        stay, rounds = (5, 1) if session.quick else (50, 3)
        steps = stay * RANKS
        native, ours = emulated_pair(session, flavour, "drift", "--imbalance=100", f"--steps={steps}",
                                     f"--drift={stay}")
        times = session.interleaved([native, ours], rounds)
        work = analytic.iterations(analytic.unbalanced_loads(RANKS, 100), STEP_WORK_MS)
        once = analytic.optimal_threads(work, PACKAGES)
        oracle = analytic.reduction(work, [THREADS] * RANKS, once)
        shares = [100 * 100 * (1 - b / a) / oracle for a, b in zip(times["native"], times["with Steelyard"])]
        moved = [work[-k:] + work[:-k] for k in range(RANKS)]
        mean_once = sum(analytic.makespan(loads, once) for loads in moved) / RANKS
        gain_once = 100 * (1 - mean_once / analytic.makespan(work, [THREADS] * RANKS))
        beside = {"the oracle's reduction, %": oracle, "balanced only once (analytic)": float(100 * gain_once) / oracle,
                  "error of the instrument, %": instrument_error(times["native"], steps, work)}
        return [figure("drift", "emulated", shares, "% of an oracle's gain", Target(">=", 80), ours.shell(), beside)]

    return measured


def dlb_case(session: Session, flavour: str, command: list[str], variables: dict[str, str]) -> list[Case]:
    """LeWI of DLB, as its manual says: ranks on cores of their own, threads and ranks that do not spin."""
    if flavour not in session.dlb:
        return []
    if not session.dlb[flavour].exists():
        raise Failed(f"--dlb: {session.dlb[flavour]} is not there: build DLB with MPI support and name its "
                     "libdlb_mpi.so")
    # LLVM's runtime first: DLB must find it when it starts, or falls back to a policy without OMPT.
    launch = mpirun(flavour, 2, ["env", f"LD_PRELOAD=libomp.so.5:{session.dlb[flavour]}", *command])
    launch[1:1] = ["--bind-to", "core", "--map-by", "slot:PE=1"]
    return [Case("DLB LeWI", launch, variables | YIELD | {"DLB_ARGS": "--lewi --ompt --lewi-affinity=mask --quiet",
                                                          "OMP_WAIT_POLICY": "passive"})]


def lending(flavour: str, regions: int) -> Callable[[Session], list[Figure]]:
    """2 ranks on 2 cores, the second with 3 times the work of the first. The ideal keeps both cores busy to the end."""

    def measured(session: Session) -> list[Figure]:
        name = f"lending-{regions}-{flavour}"
        steps, rounds = (10, 1) if session.quick else (50, 7)
        one = {"OMP_NUM_THREADS": "1"}
        program = [unbalanced(session, flavour), f"--steps={steps}", f"--regions={regions}", ROUNDS]
        both = [*program, "--work=40", "--loads=1,3"]
        ours = Case("with Steelyard", mpirun(flavour, 2, session.steelyard(name) + both), one)
        cases = [Case("native", mpirun(flavour, 2, both), one), ours,
                 Case("light", mpirun(flavour, 1, [*program, "--work=20"]), one),
                 Case("heavy", mpirun(flavour, 1, [*program, "--work=60"]), one),
                 Case("even loads, native", mpirun(flavour, 2, [*program, "--work=40", "--imbalance=0"]), one)]
        if flavour == "openmpi":
            cases.append(Case("native, yielding", cases[0].command, one | YIELD))
        cases += dlb_case(session, flavour, both, one)
        times = session.interleaved(cases, rounds)
        ideal = [(light + heavy) / 2 for light, heavy in zip(times.pop("light"), times.pop("heavy"))]
        fractions = {label: [100 * i / t for i, t in zip(ideal, taken)] for label, taken in times.items()}
        values = fractions.pop(ours.label)
        return [figure(name, "real", values, "% of the ideal", Target(">=", 85), ours.shell(),
                       {label: median(samples) for label, samples in fractions.items()})]

    return measured


# Iterations of bench/late_join.c, and the length of the heavy rank's region that they make here: 2, 7 and 28 ms.
LATE_JOIN = {"2ms": (1000, 1000), "7ms": (4000, 250), "28ms": (16000, 60)}


def late_join(flavour: str, length: str) -> Callable[[Session], list[Figure]]:
    """2 ranks on 2 cores, loads 1:3, one plain static loop of gcc a step: the core comes free in the middle of it. The
    bound is 67 % of the native time."""

    def measured(session: Session) -> list[Figure]:
        name = f"late-join-{length}-{flavour}"
        iterations, steps = LATE_JOIN[length]
        program = [session.program(f"bench/late_join.{flavour}.gcc"), str(iterations),
                   str(2 if session.quick else steps)]
        one, seconds = {"OMP_NUM_THREADS": "1"}, r"seconds ([0-9.]+)"
        ours = Case("with Steelyard", mpirun(flavour, 2, session.steelyard(name) + program), one, seconds)
        observe = mpirun(flavour, 2, session.steelyard(name, "--observe") + program)
        cases = [Case("native", mpirun(flavour, 2, program), one, seconds), ours,
                 Case("only measured", observe, one, seconds)]
        times = session.interleaved(cases, 1 if session.quick else 7)
        parts = {label: [100 * t / n for n, t in zip(times["native"], samples)] for label, samples in times.items()}
        return [figure(name, "real", parts[ours.label], "% of native", Target("<=", 80), ours.shell(),
                       {"only measured": median(parts["only measured"]), "native, s": median(times["native"])})]

    return measured


def balanced(flavour: str) -> Callable[[Session], list[Figure]]:
    def measured(session: Session) -> list[Figure]:
        name = f"balanced-overhead-{flavour}"
        steps, rounds = (10, 1) if session.quick else (50, 15)
        one = {"OMP_NUM_THREADS": "1"}
        program = [unbalanced(session, flavour), f"--steps={steps}", "--imbalance=0", "--work=40", "--regions=4",
                   "--collective=allreduce", ROUNDS]
        ours = Case("with Steelyard", mpirun(flavour, 2, session.steelyard(name) + program), one)
        times = session.interleaved([Case("native", mpirun(flavour, 2, program), one), ours], rounds)
        longer = [100 * (b / a - 1) for a, b in zip(times["native"], times["with Steelyard"])]
        return [figure(name, "real", longer, "% longer", Target("<=", 1), ours.shell(),
                       {"native, s": median(times["native"]), "the paper's, %": 0.4})]

    return measured


def recording(flavour: str) -> Callable[[Session], list[Figure]]:
    """The measurement and the run record alone, with nothing moved; and how large the record of a rank becomes at
    most."""

    def measured(session: Session) -> list[Figure]:
        name = f"recording-{flavour}"
        steps, rounds = (10, 1) if session.quick else (50, 25)
        one = {"OMP_NUM_THREADS": "1"}
        program = [unbalanced(session, flavour), "--imbalance=0", "--regions=4", "--collective=allreduce"]
        compute = [*program, f"--steps={steps}", "--work=40", ROUNDS]
        ours = Case("observed", mpirun(flavour, 2, session.steelyard(name, "--observe") + compute), one)
        times = session.interleaved([Case("native", mpirun(flavour, 2, compute), one), ours], rounds)
        longer = [100 * (b / a - 1) for a, b in zip(times["native"], times["observed"])]
        # More steps than samples are kept: from then on it grows no more.
        many = [*program, f"--steps={100 if session.quick else 5000}", "--kernel=sleep", "--work=1"]
        session.interleaved([Case("many steps", mpirun(flavour, 2, session.steelyard(name, "--observe") + many), one)],
                            1)
        kilobytes = (session.out / f"{name}.json").stat().st_size / 2 / 1000
        return [figure(name, "real", longer, "% longer", Target("<=", 0.5, or_same=True), ours.shell(),
                       {"native, s": median(times["native"])}),
                figure(f"record-size-{flavour}", "real", [kilobytes], "kB a rank", Target("<=", 1000), ours.shell(),
                       {})]

    return measured


def region_cost(flavour: str, compiler: str, target: float, threads: int = 2) -> Callable[[Session], list[Figure]]:
    """What an empty region costs beyond the OpenMP runtime's own: GNU's for gcc, LLVM's for clang."""

    def measured(session: Session) -> list[Figure]:
        name = f"region-cost-{compiler}-{flavour}" + ("-1-thread" if threads == 1 else "")
        rounds = 1 if session.quick else 15
        team = {"OMP_NUM_THREADS": str(threads)}
        program = [session.program(f"bench/region_cost.{flavour}.{compiler}"), "100" if session.quick else "5000"]
        pattern = r"([0-9.]+) ns per region"
        ours = Case("with Steelyard", mpirun(flavour, 1, session.steelyard(name) + program), team, pattern)
        observed = mpirun(flavour, 1, session.steelyard(name, "--observe") + program)
        measured = Case("only measured", observed, team, pattern)
        native = Case("native", mpirun(flavour, 1, program), team, pattern)
        times = session.interleaved([native, ours, measured], rounds)
        extra = {label: [b - a for a, b in zip(times["native"], samples)] for label, samples in times.items()}
        return [figure(name, "real", extra["with Steelyard"], "ns a region", Target("<=", target), ours.shell(),
                       {"only measured": median(extra["only measured"]),
                        "the runtime's own, ns": median(times["native"])})]

    return measured


def tiny_regions(flavour: str, compiler: str) -> Callable[[Session], list[Figure]]:
    """A program of 34 regions a step that last some us each: what all that is done for a region makes of it."""

    def measured(session: Session) -> list[Figure]:
        name = f"tiny-regions-{compiler}-{flavour}"
        rounds = 1 if session.quick else 21
        two = {"OMP_NUM_THREADS": "2"}
        program = [session.program(f"bench/tiny_regions.{flavour}.{compiler}"), "100" if session.quick else "3000"]
        ours = Case("with Steelyard", mpirun(flavour, 1, session.steelyard(name) + program), two)
        observed = Case("only measured", mpirun(flavour, 1, session.steelyard(name, "--observe") + program), two)
        times = session.interleaved([Case("native", mpirun(flavour, 1, program), two), ours, observed], rounds)
        native = times["native"]
        longer = {label: [100 * (b / a - 1) for a, b in zip(native, samples)] for label, samples in times.items()}
        return [figure(name, "real", longer[ours.label], "% longer", Target("<=", 3), ours.shell(),
                       {"only measured": median(longer[observed.label]), "native, s": median(native)})]

    return measured


def region_call(flavour: str) -> Callable[[Session], list[Figure]]:
    """What the begin and the end of a named region cost, with one name and with a thousand."""

    def measured(session: Session) -> list[Figure]:
        rounds = 1 if session.quick else 7
        program = [session.program(f"bench/region_call.{flavour}.gcc"), "10" if session.quick else "1000"]
        command = mpirun(flavour, 1, session.steelyard(f"region-call-{flavour}") + program)
        times = session.interleaved([Case(f"{names}", command, {}, rf" {names} names, ([0-9.]+) ns per region")
                                     for names in (1, 1000)], rounds)
        return [figure(f"region-call-{names}-{flavour}", "real", samples, "ns a region", Target("<=", 1000),
                       " ".join(command), {}) for names, samples in times.items()]

    return measured


def call_cost(flavour: str) -> Callable[[Session], list[Figure]]:
    """Short MPI calls that wait for no rank: the program's and the library's own in turn, in one run."""

    def measured(session: Session) -> list[Figure]:
        program = session.program(f"bench/call_cost.{flavour}.gcc")
        command = mpirun(flavour, 2, session.steelyard(f"call-cost-{flavour}") + [program])
        extra: dict[str, list[float]] = {}
        native: dict[str, list[float]] = {}
        for _ in range(1 if session.quick else 7):
            done = subprocess.run(command, env=os.environ | mpi_variables() | {"OMP_NUM_THREADS": "1"},
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
            rows = re.findall(r"^(\S+) ratio \S+ ours (\S+) native (\S+) us", done.stdout, re.M)
            if done.returncode != 0 or not rows:
                raise Failed(f"status {done.returncode}: {' '.join(command)}\n{(done.stdout + done.stderr)[-2000:]}")
            for name, ours, own in rows:
                extra.setdefault(name, []).append(1000 * (float(ours) - float(own)))
                native.setdefault(name, []).append(1000 * float(own))
        return [figure(f"call-cost-{name}-{flavour}", "real", values, "ns a call", None, " ".join(command),
                       {"native, ns": median(native[name])}) for name, values in extra.items()]

    return measured


def planning(session: Session) -> list[Figure]:
    """Time of a whole plan, from the Google Benchmark that stands beside it."""
    repetitions = 3 if session.quick else 15
    command = [session.program("src/cores/plan_benchmark"), "--benchmark_format=json",
               f"--benchmark_repetitions={repetitions}", f"--benchmark_min_time={0.01 if session.quick else 0.1}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Failed(f"{command[0]} ended with status {done.returncode}: {done.stderr[-1000:]}")
    samples: dict[tuple[int, int], list[float]] = {}
    for run in json.loads(done.stdout)["benchmarks"]:
        if run["run_type"] == "iteration":
            shape = dict(word.split(":") for word in run["run_name"].split("/") if ":" in word)
            to_us = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[run["time_unit"]]
            samples.setdefault((int(shape["processes"]), int(shape["domains"])), []).append(run["real_time"] * to_us)
    bounds = {8: 100, 64: 1000}
    shown = {shape: times for shape, times in samples.items() if shape[0] in bounds}
    if (8, 2) not in shown:
        raise Failed(f"{command[0]} does not plan for 8 processes on 2 sockets any more: mend one of the two")
    return [figure(f"planning-{processes}-on-{domains}", "real", times, "us", Target("<=", bounds[processes]),
                   f"{' '.join(command)} --benchmark_filter=processes:{processes}/domains:{domains}/", {})
            for (processes, domains), times in shown.items()]


def measurements(flavours: list[str], quick: bool) -> list[Measurement]:
    # On the emulated node 8 ranks share a handful of cores: only an MPI that yields while it waits leaves time to the
    # native side.
    emulated = "openmpi" if "openmpi" in flavours else flavours[0]
    all_of_them = [Measurement("planning", 15, planning)]
    for flavour in flavours:
        for compiler, target in (("gcc", 300), ("clang", 700)):
            all_of_them.append(Measurement(f"region-cost-{compiler}-{flavour}", 120,
                                           region_cost(flavour, compiler, target)))
            all_of_them.append(Measurement(f"tiny-regions-{compiler}-{flavour}", 60, tiny_regions(flavour, compiler)))
        all_of_them.append(Measurement(f"region-cost-gcc-{flavour}-1-thread", 60,
                                       region_cost(flavour, "gcc", 150, threads=1)))
        all_of_them.append(Measurement(f"call-cost-{flavour}", 20, call_cost(flavour)))
        all_of_them.append(Measurement(f"region-call-{flavour}", 10, region_call(flavour)))
        all_of_them.append(Measurement(f"balanced-overhead-{flavour}", 90, balanced(flavour)))
        all_of_them.append(Measurement(f"recording-{flavour}", 150, recording(flavour)))
        for length in LATE_JOIN:
            all_of_them.append(Measurement(f"late-join-{length}-{flavour}", 60, late_join(flavour, length)))
        for regions in (4, 8):
            all_of_them.append(Measurement(f"lending-{regions}-{flavour}", 120, lending(flavour, regions)))
    for imbalance, seconds in ((100, 130), (200, 170), (500, 290)):
        all_of_them.append(Measurement(f"minife-{imbalance}", seconds, minife(emulated, imbalance)))
    all_of_them.append(Measurement("16-ranks-500", 290, minife(emulated, 500, 16)))
    all_of_them.append(Measurement("steps-of-sabo-200", 250, minife(emulated, 200, balanced_at=(2, 20, 100))))
    all_of_them.append(Measurement("several-nodes", 170, several_nodes(emulated)))
    all_of_them.append(Measurement("drift", 270, drift(emulated)))
    if quick:
        for m in all_of_them:
            m.seconds /= 25
    return all_of_them


if __name__ == "__main__":
    sys.exit(main(__doc__, "cores", measurements))

# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks of `loops`: what a chunk costs, and whole loops under `auto` beside every schedule that a user could pick.
--libomp=LIBRARY: a release build of LLVM's libomp.so, to be measured instead of the one that programs find, which may
have debug code in it. --lb4omp=LIBRARY: LB4OMP's libomp.so, whose selectors are measured in the same runs."""

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Callable, Sequence

import harness
from harness import (Case, Failed, Figure, Measurement, Session, Target, arguments, figure, measure, report)

LIBRARY: dict[str, Path] = {}  # libomp.so of "libomp" and of "lb4omp", where they are given
RUNTIMES = {"gcc": "libgomp", "clang": "libomp"}
OTHERS = ["static", "dynamic", "dynamic8", "guided"]
OURS = ["static!", "steal", "adaptive", "staggered", "hybrid"]
SCHEDULES = ["static", "dynamic", "dynamic,8", "guided"]
FRACTIONS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95, 1.0]  # the default is 0.9
CLAUSES = ["runtime", "guided", "dynamic"]
SELECTORS = {"Exhaustive": "auto,3", "Expert": "auto,5", "Q": "auto,8"}  # of LB4OMP
KERNELS = {"triangle": ["triangle", "--steps=500"], "mandelbrot": ["mandelbrot", "--steps=500"],
           "sweep-4096KiB": ["sweep", "--kib=4096", "--steps=500"]}


def environment(session: Session, runtime: str = "libomp", **more: str) -> dict[str, str]:
    """Two threads on two cores, and the LLVM runtime that was given: programs ask for libomp.so.5, whatever the file is
    called."""
    variables = {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "close", "OMP_WAIT_POLICY": "active", **more}
    if runtime in LIBRARY:
        folder = session.out / runtime
        folder.mkdir(parents=True, exist_ok=True)
        link = folder / "libomp.so.5"
        link.unlink(missing_ok=True)
        link.symlink_to(LIBRARY[runtime])
        variables["LD_LIBRARY_PATH"] = str(folder)
    return variables


def program(session: Session, compiler: str, *words: str) -> list[str]:
    return [session.program(f"bench/loops.{compiler}"), *words, *(["--steps=20"] if session.quick else [])]


def rounds(session: Session, usually: int) -> int:
    return 1 if session.quick else usually


def ratios(times: dict[str, list[float]], one: str, other: str) -> list[float]:
    return [a / b for a, b in zip(times[one], times[other])]


def best_of(times: dict[str, list[float]], names: Sequence[str]) -> str:
    return min(names, key=lambda name: statistics.median(times[name]))


def once_more(session: Session, cases: Sequence[Case], labels: Sequence[str], usually: int) -> dict[str, list[float]]:
    """The best of many is partly the luckiest of them: what is compared is measured again, in rounds of its own."""
    return session.interleaved([case for case in cases if case.label in labels], rounds(session, usually))


def relative(times: dict[str, list[float]], to: str) -> dict[str, float]:
    unit = statistics.median(times[to])
    return {name: statistics.median(values) / unit for name, values in times.items()}


def engine(session: Session) -> list[Figure]:
    there = session.program("src/loops/chunk_benchmark")
    command = [there, f"--benchmark_min_time={0.05 if session.quick else 0.5}",
               f"--benchmark_repetitions={1 if session.quick else 9}", "--benchmark_format=csv"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"') and "real_time\"" in line]
    head = next((line for line in done.stdout.splitlines() if line.startswith("name,")), "")
    if done.returncode != 0 or not lines or "ns_a_chunk" not in head:
        raise Failed(f"chunk_benchmark: status {done.returncode}\n{done.stderr[-1000:]}")
    column = head.replace('"', "").split(",").index("ns_a_chunk")
    found: dict[str, list[float]] = {}
    for line in lines:
        cells = line.split(",")
        if cells[column]:
            found.setdefault(cells[0].strip('"').split("/")[0], []).append(float(cells[column]))
    beside = {name: statistics.median(values) for name, values in found.items() if name != "steal"}
    return [figure("chunk-engine", "real", found["steal"], "ns", Target("<=", 20), " ".join(command), beside)]


def chunk(session: Session) -> list[Figure]:
    """As programs take them: by our calls, and by those of the compiler, under `steelyard run`."""
    pattern = r"ns_a_chunk +([0-9.]+)"

    def case(label: str, compiler: str, how: str, *prefix: str, **variables: str) -> Case:
        return Case(label, [*prefix, *program(session, compiler, "chunks", how)], environment(session, **variables),
                    pattern)

    def run(compiler: str) -> list[str]:
        return session.steelyard(f"chunk-{compiler}", "--loops=steal", "--loops-chunk=1")

    cases = [case("api", "gcc", "steal"), case("run-gcc", "gcc", "runtime", *run("gcc")),
             case("run-clang", "clang", "runtime", *run("clang")), case("libgomp dynamic", "gcc", "dynamic"),
             case("libomp dynamic", "clang", "dynamic"),
             case("libomp static_steal", "clang", "runtime", OMP_SCHEDULE="static_steal,1")]
    times = session.interleaved(cases, rounds(session, 9))
    medians = {name: statistics.median(values) for name, values in times.items()}
    peers = {name: medians[name] for name in medians if name.startswith("lib")}
    nearest = best_of(times, list(peers))
    found = []
    for ours in cases[:3]:
        found.append(figure(f"chunk-{ours.label}", "real", times[ours.label], "ns", Target("<=", 20), ours.shell(),
                            peers))
        found.append(figure(f"chunk-{ours.label}-ahead", "real", ratios(times, ours.label, nearest), f"of {nearest}",
                            Target("<=", 1), ours.shell(), {}))
    return found


def cell(name: str, kernel: list[str], compiler: str) -> Callable[[Session], list[Figure]]:
    """`auto` against the best of all that are fixed, measured in the same rounds; and against the runtime's static."""
    def measured(session: Session) -> list[Figure]:
        variables = environment(session)
        cases = [Case(how, program(session, compiler, kernel[0], how, *kernel[1:]), variables)
                 for how in ["auto", *OTHERS, *OURS]]
        if kernel[0] == "sweep":
            cases += [Case(f"{how} {part}", program(session, compiler, kernel[0], how, *kernel[1:],
                                                    f"--fraction={part}"),
                           variables) for how in ("staggered", "hybrid") for part in FRACTIONS]
        if compiler == "clang":
            cases.append(Case("static_steal", program(session, compiler, kernel[0], "runtime", *kernel[1:]),
                              variables | {"OMP_SCHEDULE": "static_steal"}))
        times = session.interleaved(cases, rounds(session, 5))
        best = best_of(times, [how for how in times if how != "auto"])
        beside = relative(times, best)
        del beside["auto"]
        times = once_more(session, cases, ["auto", best, "static"], 21)
        return [figure(f"{name}-{RUNTIMES[compiler]}", "real", ratios(times, "auto", best), "of the best fixed",
                       Target("<=", 1.02), cases[0].shell(), beside),
                figure(f"{name}-{RUNTIMES[compiler]}-static", "real", ratios(times, "auto", "static"), "of static",
                       Target("<=", 1.01), cases[0].shell(), {})]
    return measured


def selectors(session: Session) -> list[Figure]:
    """Three loops of 500 steps, by our calls and as they are, beside the best fixed choice and beside LB4OMP's
    selectors."""
    if "lb4omp" not in LIBRARY:
        print("bench: LB4OMP is not measured: build it and give --lb4omp=LIBRARY", file=sys.stderr, flush=True)
    found = []
    to_best: dict[str, list[list[float]]] = {"auto": [], "run": []}
    for name, kernel in KERNELS.items():
        variables = environment(session)
        cases = [Case(how, program(session, "clang", kernel[0], how, *kernel[1:]), variables)
                 for how in ["auto", *OTHERS, *OURS]]
        as_it_is = program(session, "clang", kernel[0], "runtime", *kernel[1:])
        cases.append(Case("run", [*session.steelyard(f"500-steps-{name}"), *as_it_is], variables))
        cases.append(Case("static_steal", as_it_is, variables | {"OMP_SCHEDULE": "static_steal"}))
        if "lb4omp" in LIBRARY:
            for_it = program(session, "clang45", kernel[0], "runtime", *kernel[1:])
            cases += [Case(selector, for_it, environment(session, "lb4omp", OMP_SCHEDULE=schedule,
                                                         KMP_CPU_SPEED="2000"))
                      for selector, schedule in SELECTORS.items()]
        # A sweep takes a twentieth of a second, and what the machine lends of its memory changes meanwhile.
        times = session.interleaved(cases, rounds(session, 25 if kernel[0] == "sweep" else 5))
        best = best_of(times, [*OTHERS, *OURS, "static_steal"])
        there = [selector for selector in SELECTORS if selector in times]
        nearest = best_of(times, there) if there else best
        beside = relative(times, best)
        times = once_more(session, cases, [*to_best, best, nearest], 25 if kernel[0] == "sweep" else 7)
        for ours in to_best:
            to_best[ours].append(ratios(times, ours, best))
            command = next(case for case in cases if case.label == ours).shell()
            found.append(figure(f"500-steps-{name}-{ours}", "real", to_best[ours][-1], "of the best fixed", None,
                                command,
                                beside))
            if there:
                found.append(figure(f"500-steps-{name}-{ours}-LB4OMP", "real", ratios(times, ours, nearest),
                                    f"of {nearest}",
                                    Target("<=", 1), command, {}))
    for ours, kernels in to_best.items():
        means = [statistics.geometric_mean(of_round) for of_round in zip(*kernels)]
        found.append(figure(f"500-steps-mean-{ours}", "real", means, "of the best fixed", Target("<=", 1.02),
                            "geometric mean of the above", {}))
    return found


def emulated(name: str, kernel: list[str], threads: int) -> Callable[[Session], list[Figure]]:
    """Loops of 50 ms whose work is sleeping, on cores that are not there."""
    def measured(session: Session) -> list[Figure]:
        variables = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
        words = [f"--emulated={50_000 * threads // 2400}", "--steps=40"]
        cases = [Case(how, program(session, "gcc", kernel[0], how, *words), variables)
                 for how in ["auto", "static", "dynamic", "guided", "steal", "adaptive"]]
        times = session.interleaved(cases, rounds(session, 3))
        best = best_of(times, [how for how in times if how != "auto"])
        return [figure(f"{name}-{threads}-threads", "emulated", ratios(times, "auto", best), "of the best fixed",
                       Target("<=", 1.03), cases[0].shell(), relative(times, best))]
    return measured


def slack(flavour: str) -> Callable[[Session], list[Figure]]:
    """Eight ranks of three threads, one of which is late: what its slack is worth to the others, and so to all."""
    def measured(session: Session) -> list[Figure]:
        words = ["mpirun." + flavour, "-n", "8"]
        there = [session.program(f"bench/slack.{flavour}.clang"), *(["--steps=10"] if session.quick else [])]
        variables = environment(session) | {"OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive",
                                            "OMP_PROC_BIND": "false",
                                            "HWLOC_SYNTHETIC": "package:2 core:12 pu:1"}

        def case(how: str, pattern: str = Case.pattern) -> Case:
            run = session.steelyard(f"slack-{how}-{flavour}", f"--loops={how}", "--cores=off", "--collectives=off")
            return Case(how, [*words, *run, *there], variables, pattern)

        cases = [case(how) for how in ("combined", "tuned", "slack", "hybrid+tuned+staggered", "static", "auto")]
        times = session.interleaved(cases, rounds(session, 5))
        beside = relative(times, "tuned")
        for how in ("combined", "tuned", "slack", "hybrid+tuned+staggered"):
            for who in ("late", "others"):
                beside[f"{how}: moved in {who} %"] = harness.run(case(how, rf"{who} ([0-9.]+) %"), 300)
        return [figure(f"slack-8-ranks-{flavour}", "emulated", ratios(times, "combined", "tuned"), "of tuned",
                       Target("<=", 1), cases[0].shell(), beside)]
    return measured


def binary(name: str, kernel: list[str], compiler: str) -> Callable[[Session], list[Figure]]:
    """Programs as they are, under `steelyard run`: the result of the same program without it, in the time of the best
    that OMP_SCHEDULE can do."""
    def measured(session: Session) -> list[Figure]:
        def words(how: str) -> list[str]:
            if compiler == "gfortran":
                return [session.program("bench/loops.gfortran"), kernel[0], "20" if session.quick else "500", how]
            return program(session, compiler, kernel[0], how, *kernel[1:])

        variables = environment(session)
        sum_of_it = harness.run(Case("static", words("runtime"), variables | {"OMP_SCHEDULE": "static"},
                                     r"checksum +([0-9.]+)"), 300)
        pattern = rf"(?s)seconds +([0-9.]+)(?=.*checksum {sum_of_it:.6f})"
        cases = [Case(schedule, words("runtime"), variables | {"OMP_SCHEDULE": schedule},
                      pattern) for schedule in SCHEDULES]
        cases += [Case(f"run {how}", [*session.steelyard(f"{name}-{compiler}-{how}"), *words(how)], variables, pattern)
                  for how in CLAUSES]
        times = session.interleaved(cases, rounds(session, 5))
        best = best_of(times, SCHEDULES)
        beside = relative(times, best)
        times = once_more(session, cases, [best, *(f"run {how}" for how in CLAUSES)], 15)
        return [figure(f"{name}-binary-{compiler}-{how}", "real", ratios(times, f"run {how}", best),
                       "of the best OMP_SCHEDULE", Target("<=", 1.0, or_same=True), cases[len(SCHEDULES) + i].shell(),
                       beside)
                for i, how in enumerate(CLAUSES)]
    return measured


def measurements(options) -> list[Measurement]:
    all_of_them = [Measurement("chunk-engine", 5 if options.quick else 30, engine), Measurement("chunk", 15, chunk)]
    weathers = {"calm": [], "delay5": ["--delay=5"], "delay10": ["--delay=10"],
                "transient": ["--delay=10", "--noise=7"]}
    for compiler in RUNTIMES:
        for kib in (1536, 4096, 16384, 65536, 204800):
            steps = max(40, min(2000, 2_000_000 // kib))
            for weather, words in weathers.items():
                name = f"sweep-{kib}KiB-{weather}"
                all_of_them.append(Measurement(f"{name}-{RUNTIMES[compiler]}", 100, cell(
                    name, ["sweep", f"--kib={kib}", f"--steps={steps}", *words], compiler)))
        for kernel in ("triangle", "mandelbrot"):
            all_of_them.append(Measurement(f"{kernel}-{RUNTIMES[compiler]}", 60,
                                           cell(kernel, KERNELS[kernel], compiler)))
    all_of_them.append(Measurement("500-steps", 240, selectors))
    for threads in (6, 16, 48):
        for name, kernel in KERNELS.items():
            short = name.partition("-")[0]
            all_of_them.append(Measurement(f"{short}-{threads}-threads", 60, emulated(short, kernel, threads)))
    all_of_them += [Measurement(f"slack-8-ranks-{flavour}", 90, slack(flavour)) for flavour in options.flavours]
    for compiler in [*RUNTIMES, "gfortran"]:
        for name, kernel in KERNELS.items():
            all_of_them.append(Measurement(f"{name}-binary-{compiler}", 45, binary(name, kernel, compiler)))
    return all_of_them


def main() -> int:
    # These are ours alone; the rest is what every benchmark takes.
    rest = []
    for word in sys.argv[1:]:
        name, _, library = word.removeprefix("--").partition("=")
        if name not in ("libomp", "lb4omp"):
            rest.append(word)
            continue
        LIBRARY[name] = Path(library).resolve()
        if not LIBRARY[name].is_file():
            raise SystemExit(f"bench: --{name}={library}: there is no such library; give the file, such as "
                             ".../lib/libomp.so")
    sys.argv[1:] = rest
    options = arguments(__doc__, "loops")
    if "libomp" not in LIBRARY:
        print("bench: LLVM's runtime is the one that programs find, which may have debug code in it: give "
              "--libomp=LIBRARY",
              file=sys.stderr, flush=True)
    return report(options, measure(options, measurements(options)))


if __name__ == "__main__":
    sys.exit(main())

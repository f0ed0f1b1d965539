"""Benchmarks of `loops`: the cost of a chunk, and whole loops under `auto` beside every schedule that a user could pick."""

import statistics
import subprocess
import sys

from harness import (Case, Failed, Figure, Measurement, Session, Target, arguments, figure, measure, report)

THREADS = "2"
RUNTIMES = {"gcc": "libgomp", "clang": "libomp"}
OTHERS = ["static", "dynamic", "dynamic8", "guided"]


def environment() -> dict[str, str]:
    return {"OMP_NUM_THREADS": THREADS, "OMP_PROC_BIND": "close", "OMP_WAIT_POLICY": "active"}


def chunk(session: Session) -> list[Figure]:
    program = session.program("src/loops/chunk_benchmark")
    command = [program, f"--benchmark_min_time={0.05 if session.quick else 0.5}",
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
    return [figure("chunk-2-threads", "real", found["steal"], "ns", Target("<=", 20), " ".join(command), beside)]


def cell(name: str, kernel: list[str], compiler: str, fixed: list[str]):
    """`auto` against the best of all that are fixed, measured in the same rounds; and against the runtime's static."""
    def measured(session: Session) -> list[Figure]:
        program = session.program(f"bench/loops.{compiler}")
        rounds = 1 if session.quick else 7
        steps = ["--steps=20"] if session.quick else []
        cases = [Case(how, [program, kernel[0], how, *kernel[1:], *steps], environment())
                 for how in ["auto", *OTHERS, *fixed]]
        times = session.interleaved(cases, rounds)
        medians = {how: statistics.median(values) for how, values in times.items()}
        best = min((how for how in medians if how != "auto"), key=medians.get)
        beside = {how: value / medians[best] for how, value in medians.items() if how != "auto"}
        to_best = [a / b for a, b in zip(times["auto"], times[best])]
        to_static = [a / b for a, b in zip(times["auto"], times["static"])]
        return [figure(f"{name}-{RUNTIMES[compiler]}", "real", to_best, "of the best fixed", Target("<=", 1.02),
                       cases[0].shell(), beside),
                figure(f"{name}-{RUNTIMES[compiler]}-static", "real", to_static, "of static", Target("<=", 1.01),
                       cases[0].shell(), {})]
    return measured


def binary(name: str, kernel: list[str], compiler: str):
    """The same program with schedule(runtime): under `steelyard run` against the best that OMP_SCHEDULE can do."""
    def measured(session: Session) -> list[Figure]:
        words = [session.program(f"bench/loops.{compiler}"), kernel[0], "runtime", *kernel[1:]]
        words += ["--steps=20"] if session.quick else []
        cases = [Case(schedule, words, environment() | {"OMP_SCHEDULE": schedule})
                 for schedule in ("static", "dynamic", "dynamic,8", "guided")]
        cases.append(Case("steelyard", [*session.steelyard(f"{name}-{compiler}"), *words], environment()))
        times = session.interleaved(cases, 1 if session.quick else 7)
        medians = {how: statistics.median(values) for how, values in times.items()}
        best = min((how for how in medians if how != "steelyard"), key=medians.get)
        ratios = [a / b for a, b in zip(times["steelyard"], times[best])]
        return [figure(f"{name}-binary-{compiler}", "real", ratios, "of the best OMP_SCHEDULE", Target("<=", 1.0),
                       cases[-1].shell(), {how: value / medians[best] for how, value in medians.items()})]
    return measured


def measurements(quick: bool) -> list[Measurement]:
    all_of_them = [Measurement("chunk-2-threads", 5 if quick else 30, chunk)]
    weathers = {"calm": [], "delay5": ["--delay=5"], "delay10": ["--delay=10"], "transient": ["--delay=10", "--noise=7"]}
    ours = ["static!", "steal", "adaptive", "staggered", "hybrid"]
    for compiler in RUNTIMES:
        for kib in (1536, 4096, 16384, 65536, 204800):
            steps = max(40, min(2000, 2_000_000 // kib))
            for weather, words in weathers.items():
                name = f"sweep-{kib}KiB-{weather}"
                all_of_them.append(Measurement(f"{name}-{RUNTIMES[compiler]}", 60, cell(
                    name, ["sweep", f"--kib={kib}", f"--steps={steps}", *words], compiler, ours)))
        for kernel in ("triangle", "mandelbrot"):
            all_of_them.append(Measurement(f"{kernel}-{RUNTIMES[compiler]}", 60, cell(
                kernel, [kernel, "--steps=500"], compiler, ours)))
        for name, kernel in (("triangle", ["triangle"]), ("mandelbrot", ["mandelbrot"]),
                             ("sweep-4096KiB", ["sweep", "--kib=4096"])):
            kernel += ["--steps=500"]
            all_of_them.append(Measurement(f"{name}-binary-{compiler}", 30, binary(name, kernel, compiler)))
    return all_of_them


def main() -> int:
    options = arguments(__doc__, "loops")
    return report(options, measure(options, measurements(options.quick)))


if __name__ == "__main__":
    sys.exit(main())

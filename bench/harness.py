# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands in interleaved rounds, keeps medians and spreads, and prints and writes figures."""

import argparse
import contextlib
import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Callable, Iterator, Mapping, Sequence, TypeVar

Result = TypeVar("Result", float, list[float])
TREE = Path(__file__).resolve().parent.parent

# Open MPI's own way to leave the core to other ranks while it waits; MPICH has none.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}


class Failed(Exception):
    """A figure is not available. Says why, and what to do."""


@dataclass
class Target:
    relation: str  # ">=" or "<="
    bound: float
    or_same: bool = False  # what cannot be told from the bound, by its spread, will do; not more than a twentieth

    def met_by(self, value: float, spread: float = 0) -> bool:
        short = self.bound - value if self.relation == ">=" else value - self.bound
        return short <= (min(spread, abs(self.bound) / 20) if self.or_same else 0)

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:.4g}" + (" +- noise" if self.or_same else "")


@dataclass
class Figure:
    name: str
    instrument: str  # real or emulated
    value: float | None
    spread: float | None  # half the distance between the quartiles
    unit: str
    target: str = ""
    met: bool | None = None
    command: str = ""
    beside: dict[str, float] = field(default_factory=dict)
    disturbed: float = 0.0  # cores that other programs kept busy meanwhile
    error: str = ""


def figure(name: str, instrument: str, samples: Sequence[float], unit: str, target: Target | None, command: str,
           beside: Mapping[str, float]) -> Figure:
    value, width = statistics.median(samples), spread(samples)
    return Figure(name, instrument, value, width, unit, str(target or ""), target.met_by(value, width) if target
                  else None,
                  command, dict(beside))


def spread(samples: Sequence[float]) -> float:
    if len(samples) < 2:
        return 0.0
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return (high - low) / 2


@dataclass
class Case:
    """One command, the variables that it adds to the environment, and how its result is read from its output."""

    label: str
    command: list[str]
    variables: dict[str, str] = field(default_factory=dict)
    pattern: str = r"seconds +([0-9.]+)"

    def shell(self) -> str:
        """What a user would type."""
        words = [f"{key}={shlex.quote(value)}" for key, value in self.variables.items()]
        return " ".join(words + [shlex.quote(word) for word in self.command])


def mpi_variables() -> dict[str, str]:
    lines = (TREE / "tools/mpi.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if re.match(r"[A-Z]\w*=", line))


def run(case: Case, limit: float) -> float:
    """The number that the command prints."""
    return numbers(case, limit)[0]


def numbers(case: Case, limit: float) -> list[float]:
    """All such numbers. The command's whole process group ends with it, whatever happens."""
    environment = {key: value for key, value in os.environ.items() if not re.match("OMP_|KMP_|STEELYARD_|DLB_", key)}
    environment |= mpi_variables() | case.variables
    try:
        process = subprocess.Popen(case.command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", process_group=0)
    except OSError as error:
        raise Failed(f"{case.label}: cannot be started: {error}") from error
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        output = None
    finally:
        if process.poll() is None:
            end_group(process)
    if output is None:
        raise Failed(f"{case.label}: still running after {limit:.0f} s: {case.shell()}")
    found = re.findall(case.pattern, output)
    if process.returncode != 0 or not found:
        raise Failed(f"{case.label}: status {process.returncode}, {'result not used' if found else 'no result'}: "
                     f"{case.shell()}\n{output[-2000:].rstrip()}")
    return [float(number) for number in found]


def end_group(process: subprocess.Popen) -> None:
    """Asks first: a launcher that is killed outright leaves its ranks behind."""
    for end, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, end)
            process.communicate(timeout=patience)
            return
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


class Others:
    """Cores that programs other than ours and those that we started kept busy, since this was made."""

    def __init__(self):
        self.start = self.read()

    @staticmethod
    def read() -> tuple[float, float, float]:
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8]]
        busy = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")  # not idle, not waiting for a disk
        return time.monotonic(), busy, sum(os.times()[:4])

    def cores(self) -> float:
        seconds, busy, ours = (b - a for a, b in zip(self.start, self.read()))
        return max(0.0, (busy - ours) / seconds) if seconds > 0.1 else 0.0


class Progress:
    """What is being measured and how long the rest will take: from estimates at first, then from what the rounds
    took."""

    SILENCE = 30  # s, at most, while something is measured under watched()

    def __init__(self, estimates: Mapping[str, float]):
        self.left = dict(estimates)
        self.total = len(estimates)
        self.name = ""
        self.said = time.monotonic()

    def start(self, name: str) -> None:
        self.name = name
        self.number = self.total - len(self.left) + 1
        self.began = self.told = time.monotonic()
        self.say("begins")

    def round(self, done: int, rounds: int, took: float) -> None:
        self.left[self.name] = took / done * (rounds - done)
        self.told = time.monotonic()
        self.say(f"round {done} of {rounds}")

    def finish(self) -> None:
        self.left.pop(self.name)

    def say(self, what: str) -> None:
        self.said = time.monotonic()
        mine = self.left.get(self.name, 0) - (self.said - self.told)
        others = sum(seconds for name, seconds in list(self.left.items()) if name != self.name)
        rest = f"about {duration(others + max(0, mine))} left"
        if mine < -self.SILENCE / 2:
            rest = f"longer than expected; then {rest}"
        print(f"bench {self.number}/{self.total} {self.name}: {what}, {rest}", file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Breaks long silences: a single command may take many minutes."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(self.SILENCE / 10):
                if self.name in self.left and time.monotonic() - self.said >= self.SILENCE:
                    self.say(f"{duration(time.monotonic() - self.began)} so far")

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"


@dataclass
class Session:
    """What all figures share."""

    build: Path
    out: Path
    quick: bool
    dlb: dict[str, Path]
    progress: Progress

    def interleaved(self, cases: Sequence[Case], rounds: int, limit: float = 300,
                    read: Callable[[Case, float], Result] = run) -> dict[str, list[Result]]:
        """A B A B ...: what is to be compared is measured under the same weather. The order turns round with each
        round."""
        results: dict[str, list[Result]] = {case.label: [] for case in cases}
        start = time.monotonic()
        for number in range(1, rounds + 1):
            for case in cases if number % 2 else reversed(cases):
                results[case.label].append(read(case, limit))
            self.progress.round(number, rounds, time.monotonic() - start)
        return results

    def program(self, path: str) -> str:
        program = self.build / path
        if not program.exists():
            raise Failed(f"{program} is not there: build it first (make build)")
        return str(program)

    def steelyard(self, record: str, *options: str) -> list[str]:
        return [self.program("bin/steelyard"), "run", *options, f"--record={self.out / record}.json"]


@dataclass
class Measurement:
    """A figure to be measured: its name, the seconds that it will take, and the function that measures it."""

    name: str
    seconds: float
    measure: Callable[[Session], list[Figure]]
    only_by_name: bool = False  # too long for a run of all


def arguments(description: str, capability: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=Path, default=TREE / "build", help="the build directory (build)")
    parser.add_argument("--out", type=Path, help=f"the results (BUILD/bench/{capability}.json)")
    parser.add_argument("--only", metavar="NAME", action="append", default=[],
                        help="only figures whose name contains NAME")
    parser.add_argument("--mpi", choices=["openmpi", "mpich", "both"], default="both")
    parser.add_argument("--quick", action="store_true", help="a smoke run: figures that prove nothing")
    parser.add_argument("--dlb", metavar="[MPI=]LIBRARY", action="append", default=[],
                        help="libdlb_mpi.so of DLB, built for that MPI (openmpi): measured beside ours")
    parser.add_argument("--list", action="store_true", help="only list the figures")
    options = parser.parse_args()
    options.flavours = ["openmpi", "mpich"] if options.mpi == "both" else [options.mpi]
    options.build = options.build.resolve()
    options.out = (options.out or options.build / "bench" / f"{capability}.json").resolve()
    return options


def measure(options: argparse.Namespace, measurements: Sequence[Measurement]) -> list[Figure]:
    def wanted(m: Measurement) -> bool:
        if not options.only:
            return options.list or not m.only_by_name
        return m.name in options.only if m.only_by_name else any(word in m.name for word in options.only)

    chosen = [m for m in measurements if wanted(m)]
    if options.list:
        print("\n".join(f"{m.name}: about {m.seconds:.0f} s{', only by name' if m.only_by_name else ''}"
                        for m in chosen))
        return []
    if not chosen:
        raise SystemExit(f"bench: no figure is called {' or '.join(options.only)}: there are "
                         f"{', '.join(m.name for m in measurements)}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    dlb = {mpi or "openmpi": Path(library).resolve()
           for mpi, _, library in (word.rpartition("=") for word in options.dlb)}
    progress = Progress({m.name: m.seconds for m in chosen})
    session = Session(options.build, options.out.parent, options.quick, dlb, progress)
    figures: list[Figure] = []
    with progress.watched():
        for m in chosen:
            progress.start(m.name)
            others = Others()
            try:
                had = m.measure(session)
                for f in had:
                    f.disturbed = round(others.cores(), 2)
                for f in had:
                    print("bench:", *filter(None, row(f)), file=sys.stderr, flush=True)
                figures += had
            except Failed as failure:
                print(f"bench: {m.name}: {failure}", file=sys.stderr, flush=True)
                figures.append(Figure(m.name, "", None, None, "", error=str(failure)))
            progress.finish()
            write(options.out, figures)
    return figures


def write(path: Path, figures: Sequence[Figure]) -> None:
    path.write_text(json.dumps([asdict(f) for f in figures], indent=2) + "\n")


def read(path: Path) -> list[Figure]:
    return [Figure(**entry) for entry in json.loads(path.read_text())]


def number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 100 else f"{value:.1f}"


def row(f: Figure) -> tuple[str, ...]:
    if f.value is None:
        return (f.name, f.instrument, "failed", f.target, "", f.error.splitlines()[0])
    met = {None: "", True: "met", False: "MISSED"}[f.met]
    beside = "; ".join(f"{label} {number(value)}" for label, value in f.beside.items())
    if f.disturbed > 0.1 and f.instrument == "real":
        beside += f"{'; ' if beside else ''}DISTURBED by other programs on {number(f.disturbed)} cores"
    return (f.name, f.instrument, f"{number(f.value)} +- {number(f.spread)} {f.unit}", f.target, met, beside)


def table(figures: Sequence[Figure]) -> str:
    head = ("figure", "instrument", "measured", "target", "", "beside")
    rows = [head, *map(row, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)] + [0]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def report(options: argparse.Namespace, figures: Sequence[Figure]) -> int:
    """Prints the table. The status says whether all figures were measured, not whether targets were met."""
    if figures:
        print(table(figures))
        print(f"{'Quick run: the figures prove nothing. ' if options.quick else ''}Written to {options.out}")
    return 1 if any(f.value is None for f in figures) else 0


def main(description: str, capability: str,
         measurements: Callable[[list[str], bool], Sequence[Measurement]]) -> int:
    """The whole of a benchmark without options of its own: `measurements` of the chosen MPIs, quick or not."""
    options = arguments(description, capability)
    return report(options, measure(options, measurements(options.flavours, options.quick)))

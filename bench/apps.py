# SPDX-License-Identifier: BSD-3-Clause
"""Applications that were written elsewhere, natively, under DLB and under Steelyard, in alternated rounds on real
cores.

Prints each cell's time over the native one: of the whole job, and by the application's own timer, with quartiles. A
method whose result differs from the native one is an error; where it is a peer, the table says that it fails."""

import argparse
import importlib
import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "applications")]
from application import Application, Input  # noqa: E402
from harness import TREE, YIELD, Failed, Others, Progress, end_group, mpi_variables  # noqa: E402

NAMES = ("minife", "quicksilver", "lulesh", "rebound", "snap", "cloverleaf", "cp2k", "lammps")
NATIVE = "native"
PEERS = ("lewi", "mngo")
LIMIT = 600  # s, of one job
FOREIGN = 0.2  # cores kept busy by other programs, from which on a round is taken again


@dataclass(frozen=True)
class Cell:
    application: Application
    input: Input
    ranks: int
    threads: int
    flavour: str
    compiler: str

    def __str__(self) -> str:
        return f"{self.application.name} {self.input.name} {self.ranks}x{self.threads} {self.flavour} {self.compiler}"


@dataclass
class Sample:
    job: float  # s
    own: float  # s, by the application's timer
    result: tuple[float, ...]


@dataclass
class Row:
    cell: Cell
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    disturbed: int = 0  # rounds that were taken again
    error: str = ""
    failed: set[str] = field(default_factory=set)  # peers under which the program fails, or has another result

    def ratios(self, method: str, kind: str) -> list[float]:
        """Round by round, to the native run of the same round."""
        return [getattr(a, kind) / getattr(b, kind) for a, b in zip(self.samples[method], self.samples[NATIVE])]


def fits(cell: Cell) -> bool:
    """Each thread has a core of its own."""
    return cell.ranks * cell.threads <= len(os.sched_getaffinity(0))


def launch(cell: Cell) -> list[str]:
    """As a user would start it: each thread on a core of its own if there are as many."""
    words = [f"mpirun.{cell.flavour}", "-n", str(cell.ranks)]
    if cell.flavour == "openmpi":
        bound = ["--bind-to", "core", "--map-by", f"slot:PE={cell.threads}"]
        return words + (bound if fits(cell) else ["--bind-to", "none"])
    return words + (["-bind-to", f"core:{cell.threads}"] if fits(cell) else [])


def methods(options: argparse.Namespace, cell: Cell) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Words before the program, and variables, of each method. `yielding`: the program alone, told to leave its cores
    while it waits, which helps where they are fewer than its threads. DLB as its manual says, with LLVM's runtime,
    which it needs."""
    steelyard = [str(options.build / "bin/steelyard"), "run", "--record=none", "--summary=off"]
    found = {NATIVE: ([], {}), "steelyard": (steelyard, {}), "observe": ([*steelyard, "--observe"], {})}
    passive = {"OMP_WAIT_POLICY": "passive"} | YIELD
    if not fits(cell):
        found["yielding"] = ([], passive)
    if options.dlb and cell.flavour == "openmpi":
        preload = ["env", f"LD_PRELOAD={options.libomp}:{options.dlb}"]
        found["lewi"] = (preload, passive | {"DLB_ARGS": "--lewi --ompt --lewi-affinity=mask --quiet"})
        found["mngo"] = (preload, passive | {"DLB_ARGS": "--mngo --ompt --quiet"})
    return found


def run(cell: Cell, program: Path, words: list[str], variables: dict[str, str]) -> Sample:
    shape = {"ranks": cell.ranks, "threads": cell.threads}
    with tempfile.TemporaryDirectory(prefix="bench-apps-") as folder:
        if cell.input.text:
            Path(folder, cell.input.file).write_text(cell.input.text.format(**shape))
        arguments = shlex.split(cell.input.arguments.format(file=cell.input.file, **shape))
        kept = {key: value for key, value in os.environ.items() if not re.match("OMP_|KMP_|STEELYARD_|DLB_|LD_PRELOAD",
                                                                                key)}
        begin = time.monotonic()
        job = subprocess.Popen([*launch(cell), *words, str(program), *arguments], cwd=folder, text=True,
                               errors="replace",
                               env=kept | mpi_variables() | {"OMP_NUM_THREADS": str(cell.threads)} | variables,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               process_group=0)
        try:
            output, _ = job.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise Failed(f"still running after {LIMIT} s") from None
        finally:
            if job.poll() is None:
                end_group(job)
        took = time.monotonic() - begin
        if job.returncode != 0:
            raise Failed(f"status {job.returncode}:\n{output[-1500:]}")
        for file in sorted(Path(folder).glob(cell.application.output)) if cell.application.output else []:
            output += file.read_text(errors="replace")
        return Sample(took, *cell.application.read(output))


def program_of(cell: Cell, options: argparse.Namespace) -> Path:
    if cell.application.package:
        return cell.application.installed()
    cache = options.build / "bench" / "applications"
    return cell.application.built(cell.application.sources(options.sources, cache / "sources"), cell.flavour,
                                  cell.compiler, cache)


def measured(cell: Cell, options: argparse.Namespace, progress: Progress) -> Row:
    row = Row(cell)
    program = program_of(cell, options)
    ways = methods(options, cell)
    row.samples = {method: [] for method in ways}
    begin, taken = time.monotonic(), 0
    while taken < options.rounds:
        others = Others()
        found = {}
        for method in list(ways) if taken % 2 else reversed(list(ways)):
            try:
                found[method] = run(cell, program, *ways[method])
            except Failed as failure:
                not_ours(row, method, str(failure))
        if others.cores() > FOREIGN and row.disturbed < options.rounds:
            row.disturbed += 1
            continue
        for method, sample in found.items():
            if difference := cell.application.difference(sample.result, found[NATIVE].result):
                not_ours(row, method, f"another result: {difference}")
            row.samples[method].append(sample)
        for method in row.failed:
            ways.pop(method, None)
            row.samples.pop(method, None)
        taken += 1
        progress.round(taken, options.rounds, time.monotonic() - begin)
    return row


def not_ours(row: Row, method: str, why: str) -> None:
    """A peer that fails is shown as failing. Where we fail, or the program by itself, there is nothing to show."""
    if method not in PEERS:
        raise Failed(f"{method}: {why}")
    print(f"bench: {row.cell}: under {method}: {why}", file=sys.stderr, flush=True)
    row.failed.add(method)


def interval(values: list[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.2f}"
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{statistics.median(values):.2f} [{low:.2f}-{high:.2f}]"


def table(rows: list[Row]) -> str:
    """Time over native: of the job, and by the application's own timer."""
    kinds = [method for method in ("steelyard", "observe", "yielding", *PEERS)
             if any(method in row.samples or method in row.failed for row in rows)]
    lines = [["cell", "native, s", *(f"{method}: {kind}" for method in kinds for kind in ("job", "own"))]]
    for row in rows:
        if row.error:
            lines.append([str(row.cell), "failed", row.error.splitlines()[0]])
            continue
        native = statistics.median(sample.job for sample in row.samples[NATIVE])
        cells = [shown(row, method, kind) for method in kinds for kind in ("job", "own")]
        lines.append([str(row.cell) + (f" ({row.disturbed} rounds taken again)" if row.disturbed else ""),
                      f"{native:.2f}", *cells])
    for balanced in (False, True):
        some = [row for row in rows if row.cell.input.balanced == balanced and not row.error]
        if some:
            means = [geometric(some, method, kind) for method in kinds for kind in ("job", "own")]
            lines.append([f"geometric mean, {'balanced' if balanced else 'unbalanced'}", "", *means])
    widths = [max(len(line[n]) for line in lines if n < len(line)) for n in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def shown(row: Row, method: str, kind: str) -> str:
    if method in row.failed:
        return "fails"
    return interval(row.ratios(method, kind)) if method in row.samples else ""


def geometric(rows: list[Row], method: str, kind: str) -> str:
    medians = [statistics.median(row.ratios(method, kind)) for row in rows if method in row.samples]
    return f"{statistics.geometric_mean(medians):.3f}" if medians else ""


def write(path: Path, rows: list[Row]) -> None:
    def entry(row: Row) -> dict:
        samples = {method: [[s.job, s.own] for s in found] for method, found in row.samples.items()}
        return {"cell": str(row.cell), "balanced": row.cell.input.balanced, "error": row.error,
                "failed": sorted(row.failed), "job_and_own_seconds": samples}

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([entry(row) for row in rows], indent=1) + "\n")


def cells(options: argparse.Namespace) -> list[Cell]:
    found = []
    for name in options.applications.split(","):
        if name not in NAMES:
            raise SystemExit(f"bench: no application is called {name}: there are {', '.join(NAMES)}")
        application = importlib.import_module(name).APPLICATION
        inputs = [input for input in application.inputs if input.cores <= len(os.sched_getaffinity(0))]
        found += [Cell(application, input, ranks, threads, flavour, compiler) for input in inputs
                  for ranks, threads in input.layouts
                  for flavour in application.flavours if flavour in options.mpi.split(",")
                  for compiler in application.compilers if compiler in options.compilers.split(",")]
    return [cell for cell in found if re.search(options.only, str(cell))]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=TREE / "build", help="the build directory (build)")
    parser.add_argument("--sources", type=Path, metavar="DIR",
                        help="a folder with the applications' sources; cloned without")
    parser.add_argument("--applications", default=",".join(NAMES), help="which, with commas between them (%(default)s)")
    parser.add_argument("--mpi", default="openmpi,mpich", help="(%(default)s)")
    parser.add_argument("--compilers", default="gcc,clang", help="(%(default)s)")
    parser.add_argument("--only", metavar="PATTERN", default="",
                        help="cells whose name matches, e.g. 'minife.*2x1 openmpi gcc'")
    parser.add_argument("--rounds", type=int, default=7, help="of each cell (%(default)s)")
    parser.add_argument("--dlb", type=Path, metavar="LIBRARY",
                        help="libdlb_mpi.so of DLB, built for Open MPI: measured beside ours")
    parser.add_argument("--libomp", default="libomp.so.5", help="LLVM's OpenMP runtime, for DLB (%(default)s)")
    parser.add_argument("--out", type=Path, help="the times (BUILD/bench/apps.json)")
    parser.add_argument("--list", action="store_true", help="only list the cells")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.out = options.out or options.build / "bench" / "apps.json"
    if options.dlb and not options.dlb.exists():
        raise SystemExit(f"bench: --dlb: {options.dlb} is not there: build DLB with MPI support and name its "
                         "libdlb_mpi.so")
    return options


def main() -> int:
    options = parse()
    chosen = cells(options)
    if not chosen:
        raise SystemExit("bench: no cell has such a name: see --list")
    if options.list:
        print(*chosen, sep="\n")
        return 0
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    progress = Progress({str(cell): 60.0 for cell in chosen})
    rows: list[Row] = []
    with progress.watched():
        for cell in chosen:
            progress.start(str(cell))
            try:
                rows.append(measured(cell, options, progress))
            except Failed as failure:
                print(f"bench: {cell}: {failure}", file=sys.stderr, flush=True)
                rows.append(Row(cell, error=str(failure)))
            progress.finish()
            write(options.out, rows)
    print("Time over native, real cores: median [quartiles] of", options.rounds, "rounds")
    print(table(rows))
    return 1 if any(row.error for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the papers, beside their rules as run here and beside our default. Runs the other benchmarks. Papers:
sabo, quo, kale, titus, soga; without a name, all of them."""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from harness import TREE, Figure, number, read

Cells = tuple[str, float | None, float | None]  # the paper, their rule here, our default


@dataclass
class Paper:
    title: str
    source: str  # section, table or figure of the paper
    script: str
    only: str
    brief: str  # the same for --short
    unit: str
    cells: Callable[[Figure], Cells]
    missing: str  # what is not reproduced, and why


def sabo(f: Figure) -> Cells:
    return number(f.beside["the paper's MiniFE"]), f.beside["SABO's rule (--cores=sabo)"], f.value


def quo(f: Figure) -> Cells:
    return f"{f.beside['QUO in the paper']:g}", f.beside.get("QUO_barrier %"), f.value


def kale(f: Figure) -> Cells:
    """Times over those of uSched (tuned): the gain of comboSched (combined) and of `auto`."""
    return "7.2", 100 * (1 - f.beside["combined"]), 100 * (1 - f.beside["auto"])


def titus(f: Figure) -> Cells:
    return "> 75", None, f.value


def soga(f: Figure) -> Cells:
    return f"{f.beside['paper, total time %']:g}", f.beside["their rule %"], f.beside["our default %"]


PAPERS = {
    "sabo": Paper("SABO (Rocha Barbosa et al., 2022)", "table II, 8 processes of 6 threads: MiniFE", "cores.py",
                  "minife", "minife-100", "% less time", sabo,
                  "Tables III to V need several nodes, or the authors' inputs."),
    "quo": Paper("QUO (Gutierrez et al., 2017)", "table II: overhead of waiting ranks", "phases.py",
                 "quiescing-bound", "quiescing-bound", "% over the ideal", quo,
                 "QUO itself runs only with --quo. Figures 7 and 8 need a Cray, and applications that are not public. "
                 "Figure 6 is only simulated: bench/phases.py --only simulated-create."),
    "kale": Paper("Kale (2015)", "figure 6 (SNAP): comboSched over uSched", "loops.py", "slack-8-ranks",
                  "slack-8-ranks", "% less time than uSched", kale,
                  "A program with one late thread stands for SNAP, which the paper ran on 16 cores a node; figure 5 "
                  "gives no numbers."),
    "titus": Paper("TITUS_DLB", "section 5.1: efficiency of DLB_Bench, above 1 s of work per process", "tasks.py",
                   "dlb-16-ranks", "dlb-16-ranks-1s", "% efficiency", titus,
                   "TITUS_DLB itself runs only with bench/tasks.py --titus=DIR, on 2 to 16 ranks. The paper's figure "
                   "holds up to 3,584 processes; bench/tasks.py --only model-3584 models as many."),
    "soga": Paper("Soga et al.", "abstract: time of broadcasts", "collectives.py", "soga-8", "soga-8-1KiB",
                  "% less time than a binomial tree", soga,
                  "The abstract gives no number of ranks, size or threshold, so its 40 % stands beside each size."),
}


def cell(value: float | None) -> str:
    return "-" if value is None else number(value)


def table(paper: Paper, figures: Sequence[Figure]) -> str:
    """The page of one paper. A figure that failed is a row with the reason."""
    rows = [("figure", "mode", "paper", "their rule here", "our default")]
    failures = []
    for f in figures:
        if f.value is None:
            failures.append(f"{f.name}: failed: {f.error.splitlines()[0]}")
            continue
        said, theirs, ours = paper.cells(f)
        rows.append((f.name, f.instrument, said, cell(theirs), cell(ours)))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([f"{paper.title}, {paper.source}; {paper.unit}", *lines, *failures,
                      f"Not reproduced: {paper.missing}", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"of {', '.join(PAPERS)} (all)")
    parser.add_argument("--build", type=Path, default=TREE / "build", help="the build directory (build)")
    parser.add_argument("--mpi", choices=["openmpi", "mpich", "both"], default="openmpi")
    parser.add_argument("--short", action="store_true", help="one setting a paper: about 8 minutes for all")
    parser.add_argument("--quick", action="store_true", help="a smoke run: figures that prove nothing")
    parser.add_argument("--quo", action="append", default=[], metavar="[MPI=]PATH",
                        help="libquo.so, or a directory that has it: QUO beside ours (passed on to bench/phases.py)")
    options = parser.parse_args()
    for name in options.papers:
        if name not in PAPERS:
            parser.error(f"unknown paper '{name}': it must be one of {', '.join(PAPERS)}")
    chosen = options.papers or list(PAPERS)
    failed = False
    for place, name in enumerate(chosen, 1):
        paper = PAPERS[name]
        print(f"bench: paper {place} of {len(chosen)}: {name}", file=sys.stderr, flush=True)
        out = options.build / "bench" / f"paper-{name}.json"
        out.unlink(missing_ok=True)  # never the figures of an earlier run
        only = paper.brief if options.short or options.quick else paper.only
        command = [sys.executable, str(TREE / "bench" / paper.script), "--build", str(options.build), "--out", str(out),
                   "--mpi", options.mpi, "--only", only, *(["--quick"] if options.quick else []),
                   *([f"--quo={path}" for path in options.quo] if name == "quo" else [])]
        # A missed target is no failure here: the table shows it.
        status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        figures = read(out) if out.exists() else []
        if not figures:
            figures = [Figure(only, "", None, None, "", error=f"no figure: {paper.script} ended with status {status}")]
        failed |= any(f.value is None for f in figures)
        if options.quick:
            print("A smoke run: these figures prove nothing.")
        print(table(paper, figures), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""Draws two runs of a program, one above the other: the activities of each rank over time.

    python -m steelyard.timeline without.json with.json -o timeline.svg

The first record comes from `steelyard run --observe`, the second from `steelyard run`. Each row is a rank. The
thickness of a bar is the number of threads, so areas are core time: computing, waiting in OpenMP, waiting in MPI. """

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from html import escape
from pathlib import Path
from typing import Iterable, Iterator, Optional

from .options import as_set
from .record import InvalidRecord, Run, load

WIDTH, LEFT, RIGHT, TOP = 960, 70, 106, 46
HEAD, GAP, FOOT = 26, 18, 54  # above a panel, below it, and below all
KINDS = {"useful": "computing", "omp": "waiting in OpenMP", "mpi": "waiting in MPI"}

# The picture has its own background, so that the text is readable on every page.
STYLE = """
text { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: #24292f }
.title { font-size: 14px; font-weight: 600 } .small { font-size: 11px; fill: #57606a } .end { text-anchor: end }
.middle { text-anchor: middle } .card { fill: #fff; stroke: #d0d7de } .grid { stroke: #d8dee4 }
.move { stroke: #24292f; stroke-dasharray: 3 3 } .useful { fill: #2f7fc1 } .omp { fill: #df9c10 } .mpi { fill: #efc4b4 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small { fill: #9198a1 } .card { fill: #0d1117; stroke: #30363d } .grid { stroke: #262c36 }
  .move { stroke: #e6edf3 } .useful { fill: #4493d8 } .omp { fill: #d8a11d } .mpi { fill: #7a4a44 }
}
""".strip()


def draw(without: Run, with_: Run) -> str:
    """The SVG as text. Both runs share one time axis."""
    end = max(_length(without), _length(with_))
    scale = (WIDTH - LEFT - RIGHT) / end
    most = max(_most_threads(without), _most_threads(with_))
    body: list[str] = []
    bottom = float(TOP)
    for name, run in (("without", without), ("with", with_)):
        panel, bottom = _panel(name, run, bottom, scale, most, end)
        body += panel
    height = math.ceil(bottom) + FOOT - GAP
    note = _text(LEFT, bottom - GAP + 40, _note(without, with_), "small")
    head = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
            ' role="img">'
        ),
        f"<title>Activities of {len(without.ranks)} ranks, without and with Steelyard</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
    ]
    return "\n".join([*head, *_legend(), *body, *_axis(bottom, scale, end), note, "</svg>"]) + "\n"


def _panel(name: str, run: Run, top: float, scale: float, most: int, end: float) -> tuple[list[str], float]:
    """A title and a row for each rank. Also returns the y position below them."""
    ranks = run.ranks
    lane = min(24.0, max(2.0, 400 / max(1, len(ranks))))
    first = top + HEAD
    bottom = first + lane * len(ranks)
    out = [_text(LEFT, top + 16, _headline(name, run), "title")]
    for tick in _ticks(end):
        x = LEFT + tick * scale
        out.append(f'<path class="grid" d="M{x:.1f} {first:.1f}V{bottom:.1f}"/>')

    paths: dict[str, list[str]] = defaultdict(list)
    rows = {int(str(rank)): first + lane * i for i, rank in enumerate(ranks.index)}
    for kind, rank, begin, length, low, high in _bars(run, most):
        thick = 0.9 * lane / most
        x, width = LEFT + begin * scale, length * scale
        y, height = rows[rank] + lane * 0.95 - high * thick, (high - low) * thick
        if width >= 0.05 and height >= 0.05:
            paths[kind].append(f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z")
    out += [f'<path class="{kind}" d="{"".join(paths[kind])}"/>' for kind in KINDS if paths[kind]]

    every = math.ceil(11 / lane)
    for i, (number, row) in enumerate(ranks.iterrows()):
        if i % every:
            continue
        y = first + lane * i + lane / 2 + 4
        out.append(_text(LEFT - 8, y, f"rank {number}", "small end"))
        before, after = row["threads_at_start"], row["threads_at_end"]
        out.append(
            _text(
                WIDTH - RIGHT + 8, y, _threads(before) if before == after else f"{before} → {_threads(after)}", "small"
            )
        )
    out += [f'<path class="move" d="M{LEFT + t * scale:.1f} {first - 4:.1f}V{bottom:.1f}"/>' for t in _moves(run)]
    return out, bottom + GAP


def _bars(run: Run, most: int) -> Iterator[tuple[str, int, float, float, float, float]]:
    """kind, rank, begin, length, first and last thread. A sample is drawn as computing, followed by MPI: most programs
    compute and then call MPI."""
    for rank, samples in run.samples():
        columns = (samples.start, samples.end, samples.useful, samples.omp_wait, samples.mpi_wait, samples.threads)
        for start, end, useful, omp_wait, mpi_wait, threads in zip(*(column.tolist() for column in columns)):
            mpi = min(mpi_wait, end - start)
            outside = end - start - mpi
            cores = min(most, max(1, threads))
            lost = omp_wait / (useful + omp_wait) if omp_wait > 0 else 0.0
            yield "useful", rank, start, outside, 0, cores * (1 - lost)
            if lost > 0.02:
                yield "omp", rank, start, outside, cores * (1 - lost), cores
            yield "mpi", rank, start + outside, mpi, 0, cores


def _headline(name: str, run: Run) -> str:
    wall = run.ranks["wall"].sum()
    share = 100 * run.ranks["mpi"].sum() / wall if wall > 0 else 0
    times = [f"{time:.1f} s" for time in _moves(run)]
    moves = f"; cores move at {times[0]}" if len(times) == 1 else f"; cores move {len(times)} times" if times else ""
    return f"{name}: waits in MPI {share:.0f} %, {run.record['wall']:.1f} s{moves}"


def _moves(run: Run) -> list[float]:
    """Times of the moves of cores."""
    return list(run.moves["time"])


def _axis(bottom: float, scale: float, end: float) -> Iterable[str]:
    for tick in _ticks(end):
        yield _text(LEFT + tick * scale, bottom - GAP + 16, f"{tick:g} s", "small middle")


def _note(without: Run, with_: Run) -> str:
    """How times were measured, and the options of the second run."""
    topologies = ", ".join(dict.fromkeys(with_.nodes["topology"]))
    nodes, ranks = len(with_.nodes), len(with_.ranks)
    instrument = with_.record["instrument"]
    note = "" if instrument == "real" else f"{instrument}, no real cores: "
    note += f"{nodes} node{'s' * (nodes != 1)} of {topologies}, {ranks} rank{'s' * (ranks != 1)}"
    before, after = as_set(without.record["options"]), as_set(with_.record["options"])
    told = [
        f"--{name}={after[name]}"
        for name in after
        if name not in ("observe", "record") and after[name] != before.get(name)
    ]
    return f"{note}; with {' '.join(told)}" if told else note


def _legend() -> Iterable[str]:
    x = float(LEFT)
    for kind, words in KINDS.items():
        yield f'<rect class="{kind}" x="{x:.0f}" y="20" width="14" height="14" rx="2"/>'
        yield _text(x + 20, 32, words, "")
        x += 52 + 7 * len(words)
    yield _text(WIDTH - 16, 32, "thickness of a bar: number of threads", "small end")


def _ticks(end: float) -> list[float]:
    """0, 1, 2, ... in steps of 1, 2 or 5 times a power of ten; ten of them at most."""
    power = 10.0 ** math.floor(math.log10(end))
    step = next(s * power for s in (0.1, 0.2, 0.5, 1, 2) if end / (s * power) <= 10)
    return [i * step for i in range(int(end / step + 1e-9) + 1)]


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{escape(words)}</text>'


def _threads(count: int) -> str:
    return f"{count} thread" if count == 1 else f"{count} threads"


def _length(run: Run) -> float:
    longest = float(run.timeline["end"].max()) if len(run.timeline) else 0.0
    return max(float(run.record["wall"]), longest, 1e-9)


def _most_threads(run: Run) -> int:
    """Threads that fill a row: those of the largest rank. Bars of ranks that borrow more cores are not drawn
    thicker."""
    return max(1, int(run.ranks[["threads_at_start", "threads_at_end"]].to_numpy().max()))


def _obstacle(without: Run, with_: Run) -> Optional[str]:
    """Why these two records cannot be compared in one picture; None if they can."""
    options = without.record["options"]
    if options.get("observe") != "on" and options.get("cores") != "off":
        return "in the first run, cores were moved: record it with `steelyard run --observe`"
    if without.record["command"] != with_.record["command"]:
        return "the records are of different commands: {} and {}".format(
            *(" ".join(run.record["command"]) for run in (without, with_))
        )
    if without.record["instrument"] != with_.record["instrument"]:
        return "one record is {}, the other {}".format(*(run.record["instrument"] for run in (without, with_)))
    for name, run in (("first", without), ("second", with_)):
        if len(run.timeline) == 0:
            return f"the {name} record has no timeline: was it made with --timeline-samples=0?"
    return None


def main(arguments: Optional[list[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m steelyard.timeline", description="Draws a run without Steelyard and a run with Steelyard."
    )
    parser.add_argument("without", type=Path, help="record of `steelyard run --observe`")
    parser.add_argument("with_", metavar="with", type=Path, help="record of `steelyard run`")
    parser.add_argument("-o", "--output", type=Path, help="the SVG file; default: standard output")
    options = parser.parse_args(arguments)
    try:
        without, with_ = load(options.without), load(options.with_)
        problem = _obstacle(without, with_)
        if problem is None and options.output is None:
            sys.stdout.write(draw(without, with_))
        elif problem is None:
            options.output.write_text(draw(without, with_), encoding="utf-8")
    except (OSError, InvalidRecord) as error:
        problem = str(error)
    if problem is not None:
        print(f"timeline: {problem}", file=sys.stderr)
    return 0 if problem is None else 1


if __name__ == "__main__":
    sys.exit(main())

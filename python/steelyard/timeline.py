"""Draws run records as timelines: python -m steelyard.timeline before.json after.json -o timeline.svg

One row a rank, all records on the same time axis. The height of a row is the rank's thread time: what was computed, what
threads waited for in OpenMP, and what the rank waited for in MPI.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from .record import InvalidRecord, Run, load

KINDS = (("useful", "computing", "#2a78b8"), ("omp_wait", "OpenMP waits", "#f2b134"), ("mpi_wait", "MPI waits", "#d9503f"))
_WIDTH, _LEFT, _RIGHT = 960, 76, 16
_MOST_ROWS, _PANEL = 96, 288


def svg(runs: Sequence[Run], titles: Sequence[str]) -> str:
    """The picture as SVG that needs nothing else."""
    end = max([run.timeline["end"].max() for run in runs if len(run.timeline)] + [run.record["wall"] for run in runs])
    scale = (_WIDTH - _LEFT - _RIGHT) / end if end > 0 else 0.0
    parts: list[str] = []
    y = 12.0
    for run, title in zip(runs, titles):
        y = _panel(parts, run, title, y, scale)
    y = _axis(parts, end, scale, y)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y:.0f}" width="{_WIDTH}" height="{y:.0f}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#333">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" rx="6" fill="#fff"/>', *parts, "</svg>\n"])


def _panel(parts: list[str], run: Run, title: str, y: float, scale: float) -> float:
    efficiency = round(100 * run.record["metrics"]["parallel"])
    about = f"{run.record['wall']:.3g} s, parallel efficiency {efficiency} %"
    if run.record["instrument"] != "real":
        about += f" ({run.record['instrument']})"
    parts.append(f'<text x="{_LEFT}" y="{y + 12:.0f}"><tspan font-weight="600">{escape(title)}</tspan>  {escape(about)}</text>')
    y += 20
    every = max(1, math.ceil(len(run.ranks) / _MOST_ROWS))
    shown = list(run.ranks.index[::every])
    pitch = min(18.0, _PANEL / max(1, len(shown)))
    height = pitch * 0.82
    samples = dict(tuple(run.timeline.groupby("rank")))
    label_every = max(1, math.ceil(12 / pitch))
    paths: dict[str, list[str]] = {kind: [] for kind, _, _ in KINDS}
    for row, rank in enumerate(shown):
        top = y + row * pitch
        if row % label_every == 0:
            parts.append(f'<text x="{_LEFT - 8}" y="{top + height / 2 + 4:.1f}" text-anchor="end">rank {rank}</text>')
        if rank in samples:
            _row(paths, samples[rank].itertuples(), top, height, scale)
    for kind, _, colour in KINDS:
        parts.append(f'<path fill="{colour}" d="{"".join(paths[kind])}"/>')
    y += len(shown) * pitch
    if every > 1:
        parts.append(f'<text x="{_LEFT}" y="{y + 12:.0f}" fill="#777">one of {every} ranks is shown</text>')
        y += 14
    return y + 14


def _row(paths: dict[str, list[str]], samples, top: float, height: float, scale: float) -> None:
    for sample in samples:
        shares = {"useful": sample.useful, "omp_wait": sample.omp_wait, "mpi_wait": sample.mpi_wait * max(1, sample.threads)}
        whole = sum(shares.values())
        if whole <= 0:
            continue
        x, width = _LEFT + sample.start * scale, (sample.end - sample.start) * scale
        bottom = top + height
        for kind, _, _ in KINDS:
            part = shares[kind] / whole * height
            if part >= 0.05:
                paths[kind].append(f"M{x:.1f} {bottom:.1f}h{width:.2f}v{-part:.1f}h{-width:.2f}z")
            bottom -= part


def _axis(parts: list[str], end: float, scale: float, y: float) -> float:
    parts.append(f'<path d="M{_LEFT} {y - 6:.1f}h{end * scale:.1f}" stroke="#999"/>')
    step = _step(end)
    for i in range(int(end / step) + 1 if step else 0):
        x = _LEFT + i * step * scale
        parts.append(f'<path d="M{x:.1f} {y - 6:.1f}v4" stroke="#999"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 10:.1f}" text-anchor="middle">{i * step:g} s</text>')
    x = float(_LEFT)
    for _, name, colour in KINDS:
        parts.append(f'<rect x="{x:.0f}" y="{y + 22:.0f}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18:.0f}" y="{y + 32:.0f}">{name}</text>')
        x += 130
    return y + 46


def _step(end: float) -> float:
    """About eight ticks of 1, 2 or 5 times a power of ten."""
    if end <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(end / 8))
    return next(m * power for m in (1, 2, 5, 10) if end / (m * power) <= 8)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m steelyard.timeline", description="Draws run records as timelines.")
    parser.add_argument("records", nargs="+", help="run records, drawn from top to bottom")
    parser.add_argument("-o", "--output", default="timeline.svg", help="file to write (default: %(default)s)")
    parser.add_argument("-t", "--title", action="append", default=[], help="for each record, in order (default: its file name)")
    given = parser.parse_args(arguments)
    titles = given.title + [Path(path).stem for path in given.records[len(given.title) :]]
    try:
        picture = svg([load(path) for path in given.records], titles)
        Path(given.output).write_text(picture, encoding="utf-8")
    except (InvalidRecord, OSError) as error:
        print(f"steelyard.timeline: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""The part of `steelyard report` that writes pages, traces and comparisons."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Optional, Sequence, TextIO

from .output import whole
from .progress import bar
from .record import InvalidRecord, Run, load
from .words import printable

WRITTEN = "`steelyard run` writes one at the end of a run, see --record"
LARGE = 20_000_000  # bytes; reading a larger record takes long enough to show progress


def main(words: Optional[Sequence[str]] = None, without_perfetto: bool = False) -> int:
    """`without_perfetto`: the package is missing, so the trace of --perfetto is left out. Otherwise this raises
    ModuleNotFoundError before anything is written."""
    parser = argparse.ArgumentParser(
        prog="steelyard report", description="Pages, traces and comparisons from run records."
    )
    parser.add_argument("record", nargs="+", type=Path, help="run record; two records are compared")
    parser.add_argument(
        "--html", type=Path, metavar="OUT.html", help="write a self-contained page; it needs no network"
    )
    parser.add_argument(
        "--perfetto", type=Path, metavar="OUT.pftrace", help="write a trace for https://ui.perfetto.dev"
    )
    parser.add_argument(
        "--paraver",
        type=Path,
        metavar="OUT.prv",
        help="write a trace for Paraver, and the files .pcf and .row beside it",
    )
    parser.add_argument("--talp", type=Path, metavar="OUT.json", help="write TALP's JSON, as talp-pages reads it")
    given = parser.parse_args(words)
    if len(given.record) > 2 or (len(given.record) == 2 and (given.perfetto or given.paraver or given.talp)):
        parser.error("two records can only be compared, as text or with --html; the other options take one record")
    try:
        status = _compare(given) if len(given.record) == 2 else _one(given, without_perfetto)
        sys.stdout.flush()
        return status
    except InvalidRecord as problem:
        _print(f"steelyard: {problem}", sys.stderr)
    except BrokenPipeError:  # the reader has read enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as problem:
        file = str(problem.filename or "the output file")
        read = file in map(str, given.record)
        done, advice = ("read the run record", WRITTEN) if read else ("write", "name a file elsewhere")
        _print(f"steelyard: cannot {done} {file}: {problem.strerror}; {advice}", sys.stderr)
    return 1


def _one(given: argparse.Namespace, without_perfetto: bool) -> int:
    with_perfetto = given.perfetto and not without_perfetto
    if with_perfetto:
        from . import perfetto

    record = given.record[0]
    run = _load(record)
    large = _large(record)
    if given.html:
        from . import page

        with bar("drawing", large) as progress:
            text = page.html(run, progress)
        _write(given.html, text)
    if with_perfetto:
        with bar("writing the trace", large) as progress, whole(given.perfetto) as path, open(path, "wb") as file:
            perfetto.write(run, file, progress)
        _say(given.perfetto)
    if given.paraver:
        from . import paraver

        with bar("writing the trace", large) as progress, whole(given.paraver) as path:
            files = paraver.write(run, path, progress)
        for written in files:
            _say(given.paraver.with_name(written.name))
    if given.talp:
        from . import talp

        _write(given.talp, talp.text(run))
    if not (given.html or given.perfetto or given.paraver or given.talp):
        from .summary import summary

        found = summary(run)
        _print("\n".join([found.headline, found.waiting, found.moved, found.helped, *found.notes]))
    return 0


def _compare(given: argparse.Namespace) -> int:
    from . import compare, compare_page

    a, b = (_load(record) for record in given.record)
    names = (str(given.record[0]), str(given.record[1]))
    with bar("comparing", any(_large(record) for record in given.record)) as progress:
        if given.html:
            text = compare_page.html(a, b, names, progress)
        else:
            text = compare.table(compare.compare(a, b, progress), names)
    if given.html:
        _write(given.html, text)
    else:
        _print(text.rstrip("\n"))
    return 0


def _load(record: Path) -> Run:
    with bar(f"reading {record}", _large(record)) as progress:
        return load(record, progress)


def _large(record: Path) -> bool:
    return record.stat().st_size > LARGE


def _print(text: str, to: Optional[TextIO] = None) -> None:
    """Names of programs, hosts and regions are not ours: they must not control the terminal."""
    print(printable(text), file=to)


def _write(path: Path, text: str) -> None:
    with whole(path) as target:
        target.write_text(text, encoding="utf-8")
    _say(path)


def _say(path: Path) -> None:
    size = path.stat().st_size
    _print(
        f"steelyard: wrote {path} ({size / 1e6:.1f} MB)"
        if size >= 1e6
        else f"steelyard: wrote {path} ({size / 1e3:.0f} kB)"
    )

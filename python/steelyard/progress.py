# SPDX-License-Identifier: BSD-3-Clause
"""A progress bar on a terminal, with the remaining time. Nothing is shown elsewhere, or if `rich` is missing."""

from __future__ import annotations

import contextlib
import sys
from typing import Callable, Iterator, Optional

Told = Optional[Callable[[int, int], None]]


@contextlib.contextmanager
def bar(words: str, wanted: bool = True) -> Iterator[Told]:
    """Yields a function to call with (done, of), or None if standard error is no terminal."""
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    except ImportError:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(words, total=None)
        yield lambda done, of: shown.update(task, completed=done, total=of)

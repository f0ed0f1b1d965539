# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs: each in a process group of its own, which is killed as a whole if it does not end."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

OTHERS = ("OMP_", "KMP_", "GOMP_", "STEELYARD_", "LD_PRELOAD", "LIBOMP_")
OUTPUT_KEPT = 200_000  # characters of each stream
EXCERPT_LINES, EXCERPT_WIDTH = 10, 300  # of each stream in a report


@dataclass(frozen=True)
class Outcome:
    """What became of one run. `status` is None if it was killed after the timeout."""

    status: int | None
    out: str
    err: str
    seconds: float

    @property
    def right(self) -> bool:
        return self.status == 0 and any(line.startswith("ok ") for line in self.out.splitlines()[-1:])

    @property
    def wrong(self) -> bool:
        """Whether a check of the program has failed."""
        return "WRONG" in self.out

    @property
    def symptom(self) -> str:
        if self.status is None:
            return "hang"
        if self.status < 0 or self.status > 128:
            number = -self.status if self.status < 0 else self.status - 128
            return f"killed by signal {number}"
        return "right" if self.right else "wrong" if self.wrong else f"exit status {self.status}"

    @property
    def culprit(self) -> int | None:
        """The number of the construct that was wrong, or the one that had begun last."""
        for line in self.out.splitlines():
            if "WRONG" in line:
                return _number(line)
        lines = [line for line in self.out.splitlines() if _number(line) is not None]
        return _number(lines[-1]) if lines else None

    @property
    def excerpt(self) -> str:
        """What tells the cause: failed checks, and the last lines of stderr."""
        checks = [line for line in self.out.splitlines() if "WRONG" in line][:EXCERPT_LINES]
        lines = [*checks, *self.err.splitlines()[-EXCERPT_LINES:]]
        return "\n".join(f"    {line[:EXCERPT_WIDTH]}" for line in lines)


def _number(line: str) -> int | None:
    first = line.split(" ", 1)[0]
    return int(first) if first.isdigit() and ":" in line else None


class Machine:
    """Lets runs go beside each other, or one of them alone."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._running = 0
        self._alone = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._running += 1
        try:
            yield
        finally:
            with self._condition:
                self._running -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._alone = True
            self._condition.wait_for(lambda: not self._running)
        try:
            yield
        finally:
            with self._condition:
                self._alone = False
                self._condition.notify_all()


def environment(variables: dict[str, str]) -> dict[str, str]:
    """This process's environment without variables of OpenMP runtimes and Steelyard, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OTHERS)}
    return kept | variables


_running: set[int] = set()  # process groups of programs


def end_all() -> None:
    """Ends every program that is running, in whichever thread it was started."""
    for group in list(_running):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass


def execute(command: list[str], variables: dict[str, str], directory: Path, timeout: float) -> Outcome:
    """One run. Blocks until it has ended or `timeout` seconds are over."""
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=directory,
            env=environment(variables),
            start_new_session=True,
        )
        _running.add(process.pid)
        status: int | None
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        _kill_group(process)
        _running.discard(process.pid)
        seconds = time.monotonic() - begun
        return Outcome(status, _text(out), _text(err), seconds)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Also what a program that has ended left behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _text(file: object) -> str:
    file.seek(0)  # type: ignore[attr-defined]
    return file.read(OUTPUT_KEPT).decode(errors="replace")  # type: ignore[attr-defined]

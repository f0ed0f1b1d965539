# SPDX-License-Identifier: BSD-3-Clause
"""A campaign: programs are made, compiled and run until the time is over; what differs is kept and shrunk."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from . import compilers
from .execution import Machine, Outcome
from .program import SUFFIXES, Program, random_program, random_ranks
from .settings import Setting, random_environment, random_options, random_ranks_options, simpler
from .shrink import shrink
from .trial import ALONE, Bench, Difference

ENVIRONMENTS = 2  # of each executable
ATTEMPTS = 6  # runs of a candidate before it counts as right: most defects are races
KEPT_OF_EACH = 2  # failing programs kept and shrunk of each kind of construct and symptom


@dataclass
class Options:
    """What the command line says."""

    build: Path
    seed: str
    seconds: float
    jobs: int
    families: tuple[str, ...]
    size: int
    first: int
    programs: int | None
    timeout: float
    shrink_seconds: float
    flags: tuple[str, ...] = ()
    steelyard_options: tuple[str, ...] = ()
    strict: bool = False
    mpis: tuple[str, ...] = ()  # programs of several ranks, each with one of these


@dataclass
class Counts:
    """What the last lines of a campaign say."""

    programs: int = 0
    not_compiled: int = 0
    natively_wrong: int = 0
    libomp_wrong: int = 0
    natively_unstable: int = 0
    differences: int = 0
    seen_once: int = 0
    by_cause: Counter[str] = field(default_factory=Counter)


class Campaign:
    """One campaign. Its methods may run in several threads; `_lock` guards counts and output."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._kept = options.build / "fuzz"
        libomp = compilers.link_libomp(self._kept / "libomp") if "gcc" in options.families else None
        self._bench = Bench(options.build / "bin" / "steelyard", Machine(), options.timeout, libomp)
        self._mpis = compilers.mpi_commands(options.build) if options.mpis else {}
        self._ends = time.monotonic() + options.seconds
        self._lock = threading.Lock()
        self._next = options.first
        self.counts = Counts()

    def run(self) -> Counts:
        self._kept.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(self._options.jobs) as pool:
            for worker in [pool.submit(self._work) for _ in range(self._options.jobs)]:
                worker.result()
        return self.counts

    @property
    def failed(self) -> bool:
        """Whether Steelyard is to blame. A crash that could not be repeated counts in a strict campaign only."""
        return (
            bool(self.counts.differences or (self._options.strict and self.counts.seen_once))
            or not self.counts.programs
        )

    @property
    def runs(self) -> int:
        return self._bench.runs

    @property
    def resized(self) -> int:
        return self._bench.resized

    @property
    def unconfirmed(self) -> int:
        return self._bench.unconfirmed

    @property
    def own_aborts(self) -> int:
        return self._bench.own_aborts

    def _over(self) -> bool:
        return time.monotonic() >= self._ends

    def _work(self) -> None:
        while (index := self._take()) is not None:
            rng = random.Random(f"{self._options.seed}:{index}")
            if self._options.mpis:
                program = random_ranks(rng, rng.choice(self._options.mpis), self._options.families)
            else:
                program = random_program(rng, self._options.families, self._options.size)
            with TemporaryDirectory(prefix="steelyard-fuzz-") as directory:
                for family in program.families:
                    self._try_program(program, family, index, rng.getrandbits(64), Path(directory))

    def _take(self) -> int | None:
        with self._lock:
            index = self._next
            limit = self._options.programs
            if self._over() or (limit is not None and index >= self._options.first + limit):
                return None
            self._next += 1
            return index

    def _count(self, name: str) -> None:
        with self._lock:
            setattr(self.counts, name, getattr(self.counts, name) + 1)

    def _say(self, text: str) -> None:
        with self._lock:
            print(text, flush=True)

    def _try_program(self, program: Program, family: str, index: int, seed: int, directory: Path) -> None:
        """One executable in all its settings."""
        rng = random.Random(seed)
        executable, message = self._build(program, family, directory)
        if executable is None:
            self._count("not_compiled")
            self._say(f"program {index}: {family} does not compile it: {message[:300]}")
            return
        counted = False
        for _ in range(ENVIRONMENTS):
            environment = random_environment(rng, bool(program.mpi))
            options = self._random_options(rng, program, family, directory)
            launcher = self._launcher(rng, program)
            native = self._bench.run(executable, Setting("native", environment, (), launcher))
            if not native.right:
                self._count("natively_wrong")
                self._say(f"program {index} ({family}): thrown away: natively {native.symptom} in construct "
                          f"{_name(program, native.culprit)}")
                return
            if not counted:
                self._count("programs")
                counted = True
            plain = self._plain_libomp(program, family, executable, environment, launcher)
            for given in options:
                if self._over():
                    return
                setting = Setting("steelyard", environment, (*self._options.steelyard_options, *given), launcher)
                wanted = native if setting.reference == "native" else plain
                if wanted is None or not wanted.right:
                    continue  # what libomp by itself gets wrong
                difference = self._bench.compare(executable, setting, wanted)
                if difference and self._native_again(executable, difference):
                    self._report(program, family, index, self._bench.repeat(executable, difference), directory)
                    break
                if difference:
                    self._count("natively_unstable")
                    self._say(f"program {index} ({family}): dropped: {difference.symptom}, but some native runs fail")

    def _build(self, program: Program, family: str, directory: Path) -> tuple[Path | None, str]:
        return compilers.build(program, family, directory, flags=self._options.flags,
                               wrappers=self._mpis.get(program.mpi))

    def _launcher(self, rng: random.Random, program: Program) -> tuple[str, ...]:
        return (self._mpis[program.mpi]["RUN"], "-n", str(rng.choice([2, 2, 2, 3]))) if program.mpi else ()

    def _random_options(self, rng: random.Random, program: Program, family: str,
                        directory: Path) -> list[tuple[str, ...]]:
        portable = not program.libomp_lacks
        if program.mpi:
            return random_ranks_options(rng, family, portable, program.resizable)
        return random_options(rng, family, portable, str(directory / f"learnt.{family}.json"))

    def _plain_libomp(self, program: Program, family: str, executable: Path, environment: tuple[tuple[str, str], ...],
                      launcher: tuple[str, ...]) -> Outcome | None:
        """gcc's program with libomp in libgomp's place, where it can run so."""
        if family != "gcc" or program.libomp_lacks or self._bench.libomp is None:
            return None
        plain = self._bench.run(executable, Setting("libomp", environment, (), launcher))
        if not plain.right:
            self._count("libomp_wrong")
        return plain

    def _native_again(self, executable: Path, difference: Difference) -> bool:
        """A native run that is not always the same proves nothing. A hang gives native runs the time that confirmed
        it."""
        native = replace(difference.setting, door=difference.setting.reference, options=())
        timeout = self._options.timeout * (ALONE if difference.outcome.status is None else 1)
        return self._bench.is_right_natively(executable, native, difference.native, timeout)

    def _report(self, program: Program, family: str, index: int, difference: Difference, directory: Path) -> None:
        once = "" if difference.repeated else ", seen once, not repeated"
        cause = f"{family}: {_kind(program, difference.construct)}: {difference.symptom}{once}"
        self._count("differences" if difference.repeated else "seen_once")
        with self._lock:
            self.counts.by_cause[cause] += 1
            keep = self.counts.by_cause[cause] <= KEPT_OF_EACH
        text = difference.setting.text("steelyard", "./program")
        where = _name(program, difference.construct)
        said = (
            f"program {index} ({family}): {difference.symptom} in construct {where}{once}:"
            f" {text}\n{difference.outcome.excerpt}"
        )
        self._say(said.rstrip())
        if keep:
            self._keep(program, family, index, difference, directory)

    def _keep(self, program: Program, family: str, index: int, difference: Difference, directory: Path) -> None:
        """Writes the program and, if it fails again, what it was shrunk to, with the commands that show the failure."""
        place = self._kept / f"openmp-{self._options.seed}-{index}-{family}"
        place.mkdir(parents=True, exist_ok=True)
        suffix = SUFFIXES[program.language]
        (place / f"program{suffix}").write_text(program.source())
        self._write_command(place, program, family, f"program{suffix}", difference.setting)
        (place / "output.txt").write_text(f"{difference.outcome.out}\n--- errors\n{difference.outcome.err}\n--- "
                                          f"native\n{difference.native.out}")
        if not difference.repeated:
            self._say(f"program {index} ({family}): kept in {place}")
            return
        small, setting = self._shrunk(program, family, difference, directory)
        (place / f"shrunk{suffix}").write_text(small.source())
        self._write_command(place, small, family, f"shrunk{suffix}", setting, "shrunk-command.sh")
        kinds = ", ".join(f"{n} {c.kind}" for n, c in small.constructs)
        self._say(f"program {index} ({family}): kept in {place}, shrunk to {len(small.constructs)} constructs "
                  f"({kinds}): {setting.text('steelyard', './shrunk')}")

    def _write_command(self, place: Path, program: Program, family: str, source: str, setting: Setting,
                       name: str = "command.sh") -> None:
        executable = f"./{Path(source).stem}"
        steelyard = str(self._options.build.resolve() / "bin" / "steelyard")
        repeat = f"for n in $(seq 20); do {setting.text(steelyard, executable)} || exit 1; done"
        again = (
            f"# The whole program anew: tests/fuzz/openmp.py --seed {self._options.seed} --first "
            f"{place.name.split('-')[-2]} --programs 1 --size {self._options.size}"
            + (f" --mpi {','.join(self._options.mpis)}" if self._options.mpis else "")
        )
        learnt = [o.split("=", 1)[1] for o in setting.options if o.startswith("--loops-replay=")]
        learn = f"# {learnt[0]} is what a run with --loops-learn={learnt[0]} has written.\n" if learnt else ""
        compiled = compilers.command_text(program, family, source, executable, self._mpis.get(program.mpi))
        (place / name).write_text(f"{again}\n{learn}{compiled} &&\n{repeat}\n")

    def _shrunk(self, program: Program, family: str, difference: Difference,
                directory: Path) -> tuple[Program, Setting]:
        place = directory / f"shrink.{family}"
        place.mkdir(exist_ok=True)
        setting = difference.setting
        ends = time.monotonic() + self._options.shrink_seconds

        def fails_with(candidate: Program, executable: Path, tried: Setting) -> bool:
            native = self._bench.run(executable, replace(tried, door=tried.reference, options=()))
            if not native.right:
                return False
            return any(time.monotonic() < ends and self._bench.compare(executable, tried, native,
                                                                       confirm=False) for _ in range(ATTEMPTS))

        def fails(candidate: Program) -> bool:
            executable, _ = self._build(candidate, family, place)
            return executable is not None and fails_with(candidate, executable, setting)

        small = shrink(program, fails, difference.construct, self._options.shrink_seconds * 0.8)
        executable, _ = self._build(small, family, place)
        again = executable is not None
        while again and executable is not None:
            again = False
            for candidate in simpler(setting):
                if time.monotonic() < ends and fails_with(small, executable, candidate):
                    setting, again = candidate, True
                    break
        shutil.rmtree(place)
        return small, setting


def _kind(program: Program, number: int | None) -> str:
    return dict(program.constructs)[number].kind if number in program.numbers and number is not None else "at the end"


def _name(program: Program, number: int | None) -> str:
    return f"{number} ({_kind(program, number)})" if number is not None else "none"

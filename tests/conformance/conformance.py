# SPDX-License-Identifier: BSD-3-Clause
"""Runs public OpenMP conformance suites natively and under `steelyard run`, and prints the differences.

A difference: a program that passes natively and does not pass under Steelyard. Each one is repeated alone before it
counts; a program that then fails natively, too, is excluded. The suites are not part of this repository: name their
folders, or let this program clone them.

Exit status: 0 without differences, 1 with differences, 2 if a suite is missing or a command line is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shlex import join, quote
from types import ModuleType

import libgomp
import llvm
import validation
import vv
from case import FOLDER, LAUNCH, Case, without_summary

SUITES = {suite.NAME: suite for suite in (vv, validation, llvm, libgomp)}
MODES = {"default": [], "llvm": ["--openmp=llvm"]}
"""Options of `steelyard run`. For programs that clang compiled, only `default` is run: they use LLVM's runtime
anyway."""

BUILD_LIMIT = 120.0
"""Seconds for a compile command."""
OUTPUT_LIMIT = 1 << 20
"""Bytes of a program's output that are looked at."""


@dataclass(frozen=True)
class Outcome:
    passed: bool
    status: int | None
    """Exit status; None if the time limit ended the program."""
    seconds: float
    output: str

    @property
    def reason(self) -> str:
        if self.status is None:
            return "time limit"
        tail = [line.strip() for line in without_summary(self.output).splitlines() if line.strip()]
        if self.status > 128:
            return (
                f"signal {signal.Signals(self.status - 128).name}"
                if self.status - 128 < 65
                else f"status {self.status}"
            )
        return f"status {self.status}" + (f": {tail[-1][:90]}" if tail else "")


@dataclass
class Finding:
    """What is known of one case in one mode."""

    case: Case
    mode: str
    result: str
    """"passes", "differs" (again, when it was repeated alone), "once" (not again), "flaky" (fails natively, too)."""
    reason: str = ""


@dataclass
class Tally:
    programs: int = 0
    native: int = 0
    results: Counter[str] = field(default_factory=Counter)


class Runner:
    def __init__(self, command: Path, folder: Path, limit: float, repeats: int):
        self.command = command
        self.folder = folder
        self.limit = limit
        self.repeats = repeats
        self.groups: set[int] = set()
        self.ending = False
        own = ("STEELYARD_", "OMP_", "GOMP_", "KMP_", "LD_PRELOAD")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}

    def place(self, case: Case) -> Path:
        return self.folder / case.suite / case.compiler / re.sub(r"[^\w.+-]", "_", case.name)

    def build(self, case: Case) -> bool:
        place = self.place(case)
        place.mkdir(parents=True, exist_ok=True)
        log = place / "build.log"
        done = "\n".join(case.builds)
        if (place / "built").is_file() and (place / "built").read_text() == done:
            return True
        status, _ = self.shell(" && ".join(case.builds).replace(FOLDER, quote(str(place))), log, self.environment,
                               BUILD_LIMIT)
        if status == 0:
            (place / "built").write_text(done)
        return status == 0

    def run(self, case: Case, mode: str | None, limit: float) -> Outcome:
        """Runs the program once: natively if `mode` is None."""
        place = self.place(case)
        launch = join([str(self.command), "run", "--record=none", *MODES[mode]]) if mode else ""
        script = " && ".join(f"{{ {line}\n}}" for line in case.runs)
        script = script.replace(LAUNCH, launch).replace(FOLDER, quote(str(place)))
        log = place / f"{mode or 'native'}.log"
        start = time.monotonic()
        status, output = self.shell(script, log, self.environment | case.environment, limit)
        passed = status is not None and case.passes(status, output)
        return Outcome(passed, status, time.monotonic() - start, output)

    def end_all(self) -> None:
        """Ends all programs that run now, and starts no others. For a runner that is itself interrupted."""
        self.ending = True
        for group in list(self.groups):
            end_group(group)

    def shell(self, script: str, log: Path, environment: dict[str, str], limit: float) -> tuple[int | None, str]:
        """Runs a shell script in a process group and an empty folder of its own. The group is ended whatever
        happens."""
        with tempfile.TemporaryDirectory(prefix="conformance-") as folder, log.open("wb") as out:
            process = subprocess.Popen(
                ["bash", "-o", "pipefail", "-c", script], cwd=folder, env=environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip
            self.groups.add(process.pid)
            try:
                status: int | None = process.wait(0 if self.ending else limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                end_group(process.pid)
                process.wait()
                self.groups.discard(process.pid)
        with log.open("rb") as written:
            output = written.read(OUTPUT_LIMIT).decode(errors="replace")
        return 128 - status if status is not None and status < 0 else status, output

    def limit_of(self, case: Case, native: float = 0) -> float:
        """The time limit of a program; `native`: the seconds that it took natively."""
        return max(self.limit, case.patience, 20 * native)

    def first(self, case: Case, modes: list[str]) -> tuple[bool, bool, list[Finding]]:
        """Whether the case compiles, whether it passes natively, and what it does in each mode."""
        if not self.build(case):
            return False, False, []
        native = self.run(case, None, self.limit_of(case))
        if not native.passed:
            return True, False, []
        findings = []
        for mode in modes:
            outcome = self.run(case, mode, self.limit_of(case, native.seconds))
            findings.append(Finding(case, mode, "passes" if outcome.passed else "differs",
                                    "" if outcome.passed else outcome.reason))
        return True, True, findings

    def repeat(self, finding: Finding) -> None:
        """Decides whether a difference is one."""
        finding.result = "once"
        for _ in range(self.repeats):
            native = self.run(finding.case, None, self.limit_of(finding.case))
            if not native.passed:
                finding.result = "flaky"
            elif finding.result == "once":
                outcome = self.run(finding.case, finding.mode, self.limit_of(finding.case, native.seconds))
                if not outcome.passed:
                    finding.result, finding.reason = "differs", outcome.reason


def run_all(runner: Runner, cases: list[Case], modes: list[str], jobs: int) -> tuple[dict[tuple[str, str], Tally],
                                                                                     list[Finding]]:
    """Runs all cases, `jobs` at a time, then repeats each difference alone."""
    tallies: dict[tuple[str, str], Tally] = {}
    findings: list[Finding] = []

    def start(case: Case) -> tuple[Case, tuple[bool, bool, list[Finding]]]:
        return case, runner.first(case, modes if case.compiler != "clang" else ["default"])

    with ThreadPoolExecutor(jobs) as pool:
        started = [pool.submit(start, case) for case in cases]
        try:
            for number, ended in enumerate(as_completed(started), 1):
                case, (built, native, found) = ended.result()
                tally = tallies.setdefault((case.suite, case.compiler), Tally())
                tally.programs += built
                tally.native += native
                findings += found
                if number % 100 == 0:
                    note(f"{number} of {len(cases)} programs, {sum(f.result == 'differs' for f in findings)} "
                         "differences to be repeated")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            runner.end_all()
            raise
    differing = [finding for finding in findings if finding.result == "differs"]
    for number, finding in enumerate(differing, 1):
        runner.repeat(finding)
        note(f"repeated {number} of {len(differing)}: {finding.case.label} ({finding.mode}): {finding.result}")
    return tallies, findings


def table(tallies: dict[tuple[str, str], Tally], findings: list[Finding], modes: list[str]) -> Iterator[str]:
    head = ("suite", "compiler", "mode", "programs", "pass natively", "pass under Steelyard", "differences", "flaky",
            "once")
    rows = [head]
    for (suite, compiler), tally in sorted(tallies.items()):
        for mode in modes:
            here = Counter(f.result for f in findings if (f.case.suite, f.case.compiler,
                                                           f.mode) == (suite, compiler, mode))
            if here or mode == "default":
                counts = (tally.programs, tally.native, here["passes"] + here["once"], here["differs"], here["flaky"],
                          here["once"])
                rows.append((suite, compiler, mode, *map(str, counts)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        yield "  ".join(cell.ljust(width) if column < 3 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths)))


def names(findings: list[Finding], result: str, title: str) -> Iterator[str]:
    chosen = sorted((f.mode, f.case.label, f.reason) for f in findings if f.result == result)
    if chosen:
        yield f"\n{title}:"
        for mode, label, reason in chosen:
            yield f"  {mode}: {label}: {reason}"


def folder_of(suite: ModuleType, named: Path | None, parents: list[Path], clones: Path) -> Path:
    """Where the suite lies: named, in a folder of `parents`, or cloned."""
    if named:
        found = suite.find(named)
        if not found:
            raise FileNotFoundError(f"{named} does not contain the tests of {suite.TITLE}")
        return Path(found).resolve()
    for parent in parents + [clones]:
        candidates = [parent, *sorted(path for path in parent.glob("*") if path.is_dir())]
        if found := next(filter(None, map(suite.find, candidates)), None):
            return Path(found).resolve()
    return clone(suite, clones / suite.NAME)


def clone(suite: ModuleType, folder: Path) -> Path:
    note(f"cloning {suite.ADDRESS}")
    for words in (
        ["clone", "--quiet", "--depth=1", "--filter=blob:none", "--sparse", suite.ADDRESS, str(folder)],
        ["-C", str(folder), "sparse-checkout", "set", *suite.PARTS],
    ):
        git = subprocess.run(["git", *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if git.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            said = (git.stderr.strip().splitlines() or ["no message"])[-1]
            raise FileNotFoundError(
                f"cannot clone the tests of {suite.TITLE} from {suite.ADDRESS}: {said}. To use a copy: "
                f"--{suite.NAME}=DIR"
            )
    found = suite.find(folder)
    if not found:
        raise FileNotFoundError(f"{suite.ADDRESS} does not contain the tests of {suite.TITLE} at the expected place")
    return Path(found).resolve()


def end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def interrupt(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def note(text: str) -> None:
    print(f"conformance: {text}", file=sys.stderr, flush=True)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"),
                        help="build directory of Steelyard (default: build)")
    parser.add_argument("--command", type=Path, help="the command `steelyard` (default: BUILD/bin/steelyard)")
    parser.add_argument("--sources", type=Path, action="append", default=[], metavar="DIR",
                        help="a folder that contains copies of the suites")
    for suite in SUITES.values():
        parser.add_argument(f"--{suite.NAME}", type=Path, metavar="DIR",
                            help=f"a copy of the repository of {suite.TITLE}, or its tests")
    parser.add_argument("--suites", default=",".join(SUITES),
                        help="which suites, separated by commas (default: %(default)s)")
    parser.add_argument("--compilers", default="gcc,gfortran,clang", help="which compilers (default: %(default)s)")
    parser.add_argument("--modes", default="default,llvm",
                        help=f"options of gcc's programs, from {', '.join(MODES)} (default: %(default)s)")
    parser.add_argument("--only", default="", metavar="REGEX",
                        help="only programs with SUITE/COMPILER/NAME that contains REGEX")
    parser.add_argument("--limit", type=float, default=60, metavar="S",
                        help="seconds for a program, at least (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N",
                        help="how often a difference is repeated alone (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="programs at a time (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each finding that is not a pass to FILE")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    suites, compilers, modes = (text.split(",") for text in (options.suites, options.compilers, options.modes))
    if unknown := [word for word in suites if word not in SUITES] + [word for word in modes if word not in MODES]:
        note(f"unknown: {', '.join(unknown)}")
        return 2
    folder = (options.build / "conformance").resolve()
    command = (options.command or options.build / "bin" / "steelyard").resolve()
    cases: list[Case] = []
    missing = 0
    for name in suites:
        try:
            root = folder_of(SUITES[name], getattr(options, name), options.sources, folder / "sources")
        except FileNotFoundError as error:
            note(str(error))
            missing += 1
            continue
        cases += (case for case in SUITES[name].cases(root) if case.compiler in compilers
                  and re.search(options.only, case.label))
    if not cases:
        note("no program to run")
        return 2
    tallies, findings = run_all(Runner(command, folder, options.limit, options.repeats), cases, modes, options.jobs)
    print(*table(tallies, findings, modes), sep="\n")
    print(*names(findings, "differs", "Differences"), sep="\n")
    print(*names(findings, "once", "Failed under Steelyard once, and not again when repeated alone"), sep="\n")
    if options.json:
        kept = [asdict(finding) for finding in findings if finding.result != "passes"]
        options.json.write_text(json.dumps(kept, indent=1) + "\n")
    counted = [finding for finding in findings if finding.result == "differs" and finding.mode != "llvm"]
    print(f"{len(counted)} differences" + ("" if "llvm" not in modes else ", without those that --openmp=llvm makes"))
    return 2 if missing else int(bool(counted))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)
    sys.exit(main())

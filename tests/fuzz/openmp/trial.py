# SPDX-License-Identifier: BSD-3-Clause
"""Whether a run under Steelyard does what the native one does."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from confirm import fails_again, is_always_right

from .execution import Machine, Outcome, execute
from .settings import Setting

CHANGES = re.compile(r"^fuzz: (\d+) changes of thread counts", re.MULTILINE)
# MPI libraries keep memory until the process ends.
FOR_RUNS = {"ASAN_OPTIONS": "detect_leaks=0"} | dict(
    line.split("=", 1) for line in (Path(__file__).resolve().parents[3] / "tools" / "mpi.env").read_text().splitlines()
    if line and not line.startswith("#"))
NATIVE_SECONDS = 10  # of native runs, which must be right before a difference is reported
ALONE = 3  # a hang is confirmed with this many times the timeout
# What stderr says where libomp 19 aborts by itself, and where that was seen without Steelyard.
OWN_ABORTS = (
    # 3 of 10 native runs of recursive regions that need more threads than there are cores, bound.
    "Assertion failure at kmp_affinity.cpp",
    # 1 of 400 native runs of tasks in teams of changing size.
    "victim_tid < task_team->tt.tt_nproc",
    # 2 of 2,666 native runs of schedule(dynamic) in teams of changing size that wait passively, and 4 of 5,125 under
    # Steelyard, which leaves these loops to libomp; https://github.com/llvm/llvm-project/issues/86995 and 132164.
    "vnew.p.ub * (UT)chunk <= trip",
)


@dataclass(frozen=True)
class Difference:
    """What a setting did that the native run of the same environment did not. `repeated` is False if some more runs did
    not do it."""

    setting: Setting
    symptom: str
    construct: int | None
    outcome: Outcome
    native: Outcome
    repeated: bool = True

    @property
    def certain(self) -> bool:
        """Whether it needs no repetition: no library's rare abort is a wrong result, and `compare` has seen a hang
        twice."""
        return self.outcome.status in (0, None) or self.outcome.wrong


class Bench:
    """Runs executables, and counts the runs."""

    def __init__(self, steelyard: Path, machine: Machine, timeout: float, libomp: Path | None = None) -> None:
        """@param libomp a folder where libgomp's name is a link to libomp; None where there is no libomp"""
        self.steelyard = steelyard
        self.timeout = timeout
        self.libomp = libomp
        self.runs = 0
        self.unconfirmed = 0
        self.own_aborts = 0
        self.resized = 0  # runs of several ranks in which thread counts have changed
        self._machine = machine

    def run(self, executable: Path, setting: Setting, timeout: float | None = None) -> Outcome:
        with self._machine.shared():
            return self._execute(executable, setting, timeout or self.timeout)

    def run_alone(self, executable: Path, setting: Setting, timeout: float) -> Outcome:
        with self._machine.alone():
            return self._execute(executable, setting, timeout)

    def _execute(self, executable: Path, setting: Setting, timeout: float) -> Outcome:
        self.runs += 1
        command = setting.command(str(self.steelyard), str(executable))
        variables = dict(setting.environment) | ({"LD_LIBRARY_PATH": str(self.libomp)} if setting.door == "libomp"
                                                 else {})
        outcome = execute(command, FOR_RUNS | variables, executable.parent, timeout)
        changes = CHANGES.search(outcome.err) if setting.door == "steelyard" else None
        if changes:
            self.resized += int(changes[1]) > 0
        return outcome

    def compare(self, executable: Path, setting: Setting, native: Outcome, confirm: bool = True) -> Difference | None:
        """Runs once, and again alone if that run did not end. `native` is right."""
        outcome = self.run(executable, setting)
        if outcome.status is None and confirm:
            outcome = self.run_alone(executable, setting, self.timeout * ALONE)
            if not differs(outcome, native):
                self.unconfirmed += 1
        if not differs(outcome, native):
            return None
        if is_own_abort(outcome):
            self.own_aborts += 1
            return None
        symptom = outcome.symptom if not outcome.right else "other output"
        return Difference(setting, symptom, _culprit(outcome, native), outcome, native)

    def is_right_natively(self, executable: Path, setting: Setting, wanted: Outcome, timeout: float) -> bool:
        """Whether each of many more runs of a native setting is like `wanted`, or ends by a known abort of libomp's
        own."""

        def right() -> bool:
            outcome = self.run(executable, setting, timeout)
            return not differs(outcome, wanted) or is_own_abort(outcome)

        return is_always_right(right, NATIVE_SECONDS)

    def repeat(self, executable: Path, difference: Difference) -> Difference:
        """The difference, with what more runs of its setting say of it."""
        if difference.certain:
            return difference
        again = fails_again(lambda: self.compare(executable, difference.setting, difference.native) is None)
        return replace(difference, repeated=again)


def is_own_abort(outcome: Outcome) -> bool:
    return not outcome.wrong and any(words in outcome.err for words in OWN_ABORTS)


def differs(outcome: Outcome, native: Outcome) -> bool:
    return outcome.status != native.status or outcome.out != native.out


def _culprit(outcome: Outcome, native: Outcome) -> int | None:
    if not outcome.right:
        return outcome.culprit
    for seen, wanted in zip(outcome.out.splitlines(), native.out.splitlines(), strict=False):
        if seen != wanted:
            first = seen.split(" ", 1)[0]
            return int(first) if first.isdigit() else None
    return None

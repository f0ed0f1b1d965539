#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random MPI programs under `steelyard run`: a content that is right without Steelyard must be right with it.

A program is a seed, which the interpreter in tests/fuzz/mpi plays with checks of its own, and a configuration: MPI,
compiler, number of ranks, threads, options of Steelyard. Where one fails under Steelyard and not without, its script is
shrunk to the operations that it needs to fail, and the command that repeats it is printed. A wrong content is always a
defect. A crash or a hang must be seen again; otherwise it fails a strict campaign only.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from confirm import fails_again, is_always_right

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OPTIONS = (
    [],
    [],
    ["--collectives=on"],
    ["--collectives=on"],
    ["--collectives=on", "--wait=poll"],
    ["--collectives=off"],
    ["--wait=poll"],
    ["--lending=off"],
    ["--observe=on"],
    ["--cores=off", "--spin=0"],
    ["--emulate=package:2 core:4 pu:1"],
    ["--collectives=on", "--emulate=package:1 core:8 pu:1"],
)
BETWEEN_NODES = (
    ["--collectives=on", "--collectives-tree=sort", "--collectives-tree-every=3", "--collectives-tree-threshold=0"],
    ["--collectives=on", "--collectives-tree=swap", "--collectives-tree-every=2", "--collectives-tree-threshold=0"],
    ["--collectives=on", "--collectives-tree=soga", "--collectives-tree-every=2", "--collectives-tree-threshold=0"],
    ["--collectives=on", "--collectives-tree=binomial"],
    ["--collectives=on", "--collectives-tree=library"],
    ["--collectives=on"],
    ["--collectives=auto", "--collectives-tree-threshold=0"],
)
RANKS = (1, 2, 2, 2, 2, 3, 3, 3, 4, 5, 8)
FORTRAN_SHARE = 0.1
LLVM_SHARE = 0.25  # of programs with GNU's OpenMP runtime: LLVM's takes its place
NATIVE_SECONDS = 20  # of native runs, which must be right before a failure is reported
AGAIN_PATIENCE = 90  # s without progress after which a repeated run hangs


def launchers(build: Path) -> dict[str, str]:
    """The launcher of each MPI that the build has found."""
    found = re.findall(r"^STEELYARD_(\w+)_RUN:\w+=(.+)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return {flavour: path for flavour, path in found if not path.endswith("NOTFOUND")}


def environment() -> dict[str, str]:
    """That of a user, with what more ranks than cores need."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STEELYARD_") and k != "LD_PRELOAD"}
    for line in (ROOT / "tools" / "mpi.env").read_text().splitlines():
        if line and not line.startswith("#"):
            name, value = line.split("=", 1)
            kept.setdefault(name, value)
    return kept | {"OMPI_MCA_osc": "sm,pt2pt"}


@dataclass(frozen=True)
class Program:
    """What is run, and how."""

    seed: int
    flavour: str
    binary: str
    ranks: int
    operations: int
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    threads: int = 2
    keep: tuple[tuple[int, int], ...] = ()

    def command(self, fuzzer: "Fuzzer", native: bool, patience: int) -> list[str]:
        words = [fuzzer.launchers[self.flavour], "-n", str(self.ranks)]
        if not native and fuzzer.shim:
            words += ["env", f"LD_PRELOAD={fuzzer.shim}"]
        if not native:
            words += [str(fuzzer.steelyard), "run", "--record=none", "--summary=off", *self.options]
        words += [str(fuzzer.folder / self.binary), str(self.seed), str(self.operations)]
        words += [*self.arguments, "--patience", str(patience)]
        if self.keep:
            words += ["--keep", ",".join(f"{a}-{b}" for a, b in self.keep)]
        return words


@dataclass
class Outcome:
    right: bool
    operations: int = 0
    said: str = ""
    hung: bool = False
    wrong: bool = False


@dataclass
class Fuzzer:
    build: Path
    flavours: list[str]
    ranks: list[int]
    operations: int
    shim: str = ""
    patience: int = 30
    programs: int = 0
    played: dict[str, int] = field(default_factory=dict)
    differences: int = 0
    own: int = 0
    not_repeated: int = 0
    strict: bool = False
    native_seconds: float = NATIVE_SECONDS

    def __post_init__(self) -> None:
        self.folder = self.build / "tests" / "fuzz" / "mpi"
        self.steelyard = self.build / "bin" / "steelyard"
        self.launchers = launchers(self.build)
        self.flavours = [flavour for flavour in self.flavours if flavour in self.launchers]

    def binaries(self, flavour: str, name: str) -> list[str]:
        return sorted(path.name for path in self.folder.glob(f"{name}.{flavour}.*"))

    def draw(self, seed: int) -> Program | None:
        """The program of a seed."""
        dice = random.Random(seed)
        flavour = dice.choice(self.flavours)
        ranks = dice.choice(self.ranks)
        fortran = [f for name in ("fuzz_fortran_USE_MPI",
                                  "fuzz_fortran_USE_MPI_F08") for f in self.binaries(flavour, name)]
        c = self.binaries(flavour, "fuzz")
        binary = dice.choice(fortran if fortran and dice.random() < FORTRAN_SHARE else c)
        options = list(dice.choice(OPTIONS))
        if ranks > 1 and dice.random() < 0.35:
            options = [*dice.choice(BETWEEN_NODES), f"--ranks-per-node={dice.randint(1, ranks)}"]
        if not binary.endswith(".clang") and dice.random() < LLVM_SHARE:
            options.append("--openmp=llvm")
        arguments = []
        operations = self.operations if ranks <= 3 else max(50, self.operations // (2 if ranks <= 5 else 4))
        if not binary.startswith("fuzz_fortran"):
            if dice.random() < 0.3:
                arguments.append("--openmp")
            elif dice.random() < 0.15:
                arguments += ["--threads", str(dice.randint(2, 3))]
                operations //= 4
            if dice.random() < 0.3:
                arguments.append("--quick")
            if dice.random() < 0.3:
                arguments.append("--errors-return")
        return Program(seed, flavour, binary, ranks, operations, tuple(arguments), tuple(options),
                       dice.choice((1, 2, 3)))

    def run(self, program: Program, native: bool = False, patience: int = 0) -> Outcome:
        """Runs it in a process group of its own, of which nothing is left afterwards."""
        patience = patience or self.patience
        limit = patience * 2 + 60 + program.operations // 10
        before = set(Path("/dev/shm").iterdir())
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            changes = {"OMP_NUM_THREADS": str(program.threads), "FUZZ_FOLDER": folder}
            job = subprocess.Popen(program.command(self, native, patience), env=environment() | changes, text=True,
                                   errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
            hung = False
            try:
                said, _ = job.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                hung = True
                end_group(job.pid)
                said, _ = job.communicate()
            finally:
                end_group(job.pid)
        ended = re.search(r"fuzz: (\d+) operations, (\d+) differences", said)
        wrong = "differs: rank" in said or (ended is not None and int(ended[2]) > 0)
        right = job.returncode == 0 and ended is not None and not wrong and not hung
        if not right:
            sweep(before)
        return Outcome(right, int(ended[1]) if ended else 0, said, hung or "hangs:" in said, wrong)

    def is_right_natively(self, program: Program) -> bool:
        return is_always_right(lambda: self.run(program, native=True).right, self.native_seconds)

    def fails(self, program: Program, times: int, patience: int) -> bool:
        return any(not self.run(program, patience=patience).right for _ in range(times))

    def shrink(self, program: Program, seconds: float) -> Program:
        """Leaves out operations, in halves and then in smaller parts, for as long as it still fails."""
        until = time.monotonic() + seconds
        kept = list(program.keep) or [(0, program.operations - 1)]
        parts = 2
        while time.monotonic() < until and sum(b - a + 1 for a, b in kept) > 1:
            pieces = divided(kept, parts)
            for i in range(len(pieces)):
                rest = [piece for j, piece in enumerate(pieces) if j != i]
                if time.monotonic() > until or not rest:
                    break
                if self.fails(replace(program, keep=tuple(joined(rest))), 2, self.patience):
                    kept, parts = joined(rest), max(parts - 1, 2)
                    break
            else:
                if parts >= sum(b - a + 1 for a, b in kept):
                    break
                parts *= 2
            parts = min(parts, 128)
        return replace(program, keep=tuple(kept))

    def one(self, seed: int, shrink_seconds: float) -> None:
        program = self.draw(seed)
        outcome = self.run(program)
        self.programs += 1
        if outcome.right:
            self.played[program.flavour] = self.played.get(program.flavour, 0) + outcome.operations
            return
        if not self.is_right_natively(program):
            self.own += 1
            print(f"seed {seed}: the MPI library's own: fails without Steelyard, too ({describe(program)})", flush=True)
            return
        print(f"seed {seed}: fails under Steelyard: {describe(program)}\n{excerpt(outcome.said)}", flush=True)
        if not outcome.wrong and not fails_again(lambda: self.run(program, patience=AGAIN_PATIENCE).right):
            self.not_repeated += 1
            print(f"seed {seed}: seen once, not repeated; its output is in {self.keep(seed, outcome)}; the command "
                  f"was:\n  {self.command(program)}", flush=True)
            return
        self.differences += 1
        small = self.shrink(program, shrink_seconds)
        count = sum(b - a + 1 for a, b in small.keep)
        print(f"seed {seed}: shrunk to {count} operations; to repeat:", flush=True)
        print("  " + self.command(small), flush=True)

    def command(self, program: Program) -> str:
        """As a line of a shell."""
        changes = f"OMP_NUM_THREADS={program.threads} OMPI_MCA_osc=sm,pt2pt "
        return changes + shlex.join(program.command(self, False, 60))

    def keep(self, seed: int, outcome: Outcome) -> Path:
        folder = self.build / "fuzz"
        folder.mkdir(exist_ok=True)
        file = folder / f"mpi-{seed}.txt"
        file.write_text(outcome.said)
        return file

    @property
    def failed(self) -> bool:
        return bool(self.differences or (self.strict and self.not_repeated))


def end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def sweep(before: set[Path]) -> None:
    """Segments that the killed processes of this run have left in shared memory."""
    for path in set(Path("/dev/shm").iterdir()) - before:
        owner = re.search(r"(?:steelyard-\d+-|__KMP_REGISTERED_LIB_)(\d+)", path.name)
        if owner and not Path("/proc", owner[1]).exists():
            path.unlink(missing_ok=True)


def describe(program: Program) -> str:
    words = [program.binary, f"{program.ranks} ranks", f"{program.operations} operations", *program.arguments]
    return " ".join([*words, f"OMP_NUM_THREADS={program.threads}", *program.options])


def excerpt(said: str) -> str:
    lines = [line for line in said.splitlines() if re.search("differs|hangs|steelyard|rror|ignal|ssert", line)]
    return "\n".join("    " + line for line in (lines or said.splitlines())[:12])


def divided(kept: list[tuple[int, int]], parts: int) -> list[tuple[int, int]]:
    """The same operations in about so many pieces."""
    each = max(1, -(-sum(b - a + 1 for a, b in kept) // parts))
    return [(at, min(at + each - 1, b)) for a, b in kept for at in range(a, b + 1, each)]


def joined(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    result: list[tuple[int, int]] = []
    for a, b in pieces:
        if result and result[-1][1] + 1 == a:
            result[-1] = (result[-1][0], b)
        else:
            result.append((a, b))
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, help="of the first program; fresh without")
    parser.add_argument("--programs", type=int, default=sys.maxsize, help="at most so many")
    parser.add_argument("--operations", type=int, default=1000, help="of a program with up to three ranks")
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--ranks", default=",".join(map(str, RANKS)))
    parser.add_argument("--shrink", type=float, default=120, help="seconds to shrink a failing program for")
    parser.add_argument("--patience", type=int, default=30,
                        help="seconds without progress after which a rank says that it hangs (30)")
    parser.add_argument("--native-seconds", type=float, default=NATIVE_SECONDS,
                        help=f"how long native runs of a failing program must be right ({NATIVE_SECONDS})")
    parser.add_argument("--stop", action="store_true", help="at the first defect")
    parser.add_argument("--shim", default="", help="a library that is preloaded under Steelyard only: a defect to be "
                                                   "found")
    parser.add_argument("--strict", action="store_true", help="fail after a crash or hang that is not repeated, too")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1 << 40)
    fuzzer = Fuzzer(asked.build.resolve(), asked.mpi.split(","), [int(n) for n in asked.ranks.split(",")],
                    asked.operations, asked.shim, asked.patience, strict=asked.strict,
                    native_seconds=asked.native_seconds)
    print(f"fuzz of MPI programs: seed {seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    end = time.monotonic() + asked.seconds
    while fuzzer.programs < asked.programs and time.monotonic() < end:
        fuzzer.one(seed + fuzzer.programs, asked.shrink)
        if asked.stop and fuzzer.differences:
            break
    for flavour, operations in sorted(fuzzer.played.items()):
        print(f"  {flavour}: {operations} operations right under Steelyard")
    print(f"{fuzzer.programs} programs, {sum(fuzzer.played.values())} operations, {fuzzer.own} fail natively, "
          f"{fuzzer.not_repeated} seen once and not repeated, {fuzzer.differences} differences")
    return 1 if fuzzer.failed else 0


if __name__ == "__main__":
    sys.exit(main())

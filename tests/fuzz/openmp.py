#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs random OpenMP programs natively and under Steelyard, and reports each that differs; with `--mpi`, programs of
several uneven ranks, whose teams Steelyard resizes while they run. See `--help`."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
from pathlib import Path

from openmp import compilers, execution
from openmp.campaign import Campaign, Options
from openmp.construct import FAMILIES


def interrupted(number: int, frame: object) -> None:
    """Its threads wait for programs, so that it would not end by itself."""
    execution.end_all()
    os._exit(128 + number)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build"),
                        help="build directory; failing programs are kept in its folder fuzz/")
    parser.add_argument("--seconds", type=float, default=120, help="no run begins later (120)")
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)),
                        help="repeats a campaign's programs (random)")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2),
                        help="programs at a time (half of the CPUs)")
    parser.add_argument("--compilers", default=",".join(FAMILIES), help="gcc, clang or both (gcc,clang)")
    parser.add_argument("--mpi", default="", help="openmpi, mpich or both (openmpi,mpich): programs of 2 to 4 ranks")
    parser.add_argument("--size", type=int, default=40, help="constructs of a program (40)")
    parser.add_argument("--first", type=int, default=0, help="number of the first program (0)")
    parser.add_argument("--programs", type=int, help="so many programs at most")
    parser.add_argument("--timeout", type=float, default=30,
                        help="seconds after which a run counts as a hang, if one of three times the length alone "
                             "hangs, too (30)")
    parser.add_argument("--shrink-seconds", type=float, default=90, help="the longest time to shrink one program (90)")
    parser.add_argument("--flags", default="", help="more flags for the compilers, separated by spaces")
    parser.add_argument("--options", default="", help="more options for each `steelyard run`, separated by spaces")
    parser.add_argument("--strict", action="store_true", help="fail after a crash that is not repeated, too")
    given = parser.parse_args(arguments)
    wanted = given.compilers.split(",")
    families = compilers.found(wanted)
    for family in set(wanted) - set(families):
        print(f"fuzz: {family} is not installed; its programs are left out")
    found = compilers.mpi_commands(given.build.resolve()) if given.mpi else {}
    if not families or (given.mpi and not set(given.mpi.split(",")) & set(found)):
        return 77
    print(f"fuzz: openmp, seed {given.seed}, compilers {', '.join(families)}, {given.jobs} programs at a time",
          flush=True)
    options = Options(
        given.build.resolve(), given.seed, given.seconds, given.jobs, families, given.size, given.first, given.programs,
        given.timeout, given.shrink_seconds, tuple(given.flags.split()), tuple(given.options.split()), given.strict,
        tuple(mpi for mpi in given.mpi.split(",") if mpi in found),
    )  # fmt: skip
    campaign = Campaign(options)
    counts = campaign.run()
    for cause, number in counts.by_cause.most_common():
        print(f"  {number} x {cause}")
    print(
        f"not compiled: {counts.not_compiled}; thrown away because natively wrong: {counts.natively_wrong}; "
        f"wrong with plain libomp: {counts.libomp_wrong}; hangs not confirmed: {campaign.unconfirmed}; "
        f"aborted by a defect of libomp's own: {campaign.own_aborts}; "
        f"dropped because natively wrong in some runs: {counts.natively_unstable}; seen once, not repeated: "
        f"{counts.seen_once}"
    )
    if options.mpis:
        print(f"thread counts changed in {campaign.resized} runs")
    print(f"{counts.programs} programs, {campaign.runs} runs, {counts.differences} differences")
    return 1 if campaign.failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupted)
    sys.exit(main(sys.argv[1:]))

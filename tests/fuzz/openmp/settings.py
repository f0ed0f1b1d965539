# SPDX-License-Identifier: BSD-3-Clause
"""With which environment and options a program runs."""

from __future__ import annotations

import random
import shlex
from dataclasses import dataclass, replace
from itertools import product

STRATEGIES = ("auto", "static", "guided", "factoring", "steal", "adaptive", "tuned", "slack", "staggered", "combined",
              "off",
              *("hybrid" + "".join(chosen) for chosen in product(("", "+tuned"), ("", "+slack"), ("", "+staggered"))))
RANKS_RUNS = 5  # under Steelyard, of each environment
ENVIRONMENT = {
    "OMP_NUM_THREADS": ("", "1", "2", "2", "3", "4", "8", "4,2", "3,2,2"),
    "OMP_CANCELLATION": ("", "true"),
    "OMP_SCHEDULE": ("", "", "static", "static,4", "dynamic", "dynamic,3", "guided", "guided,5", "auto",
                     "monotonic:dynamic,2", "nonmonotonic:guided"),
    "OMP_DYNAMIC": ("", "", "", "", "", "false", "true"),
    "OMP_PROC_BIND": ("", "", "", "", "true", "close", "spread", "false"),
    "OMP_WAIT_POLICY": ("",) * 6 + ("passive",) * 5 + ("active",),
    "OMP_MAX_ACTIVE_LEVELS": ("", "", "", "1", "3", "8"),
    "OMP_THREAD_LIMIT": ("",) * 11 + ("5",),
}


@dataclass(frozen=True)
class Setting:
    """One run: `door` is native, libomp or steelyard."""

    door: str
    environment: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()
    launcher: tuple[str, ...] = ()

    def command(self, steelyard: str, program: str) -> list[str]:
        under = [steelyard, "run", "--record=none", *self.options] if self.door == "steelyard" else []
        return [*self.launcher, *under, program]

    @property
    def reference(self) -> str:
        """The door whose result this run must have. With nothing to balance, `steelyard run` leaves the OpenMP runtime
        alone."""
        return "libomp" if "--openmp=llvm" in self.options and "--loops=off" not in self.options else "native"

    def text(self, steelyard: str, program: str) -> str:
        """As a line of a shell."""
        variables = [f"{name}={value}" for name, value in self.environment]
        return " ".join([*variables, shlex.join(self.command(steelyard, program))])


def random_environment(rng: random.Random, ranks: bool = False) -> tuple[tuple[str, str], ...]:
    """@param ranks several processes share the cores, so that no thread must wait actively"""
    chosen = {name: rng.choice(values) for name, values in ENVIRONMENT.items()}
    if ranks:
        chosen["OMP_NUM_THREADS"] = rng.choice(["", "1", "1", "2", "2", "3", "2,2"])
        chosen["OMP_WAIT_POLICY"] = rng.choice(["passive", "passive", ""]) if chosen["OMP_NUM_THREADS"] else "passive"
        chosen["OMP_DYNAMIC"] = rng.choice([chosen["OMP_DYNAMIC"], "", ""])
        chosen["OMP_THREAD_LIMIT"] = rng.choice([chosen["OMP_THREAD_LIMIT"], "", ""])
    return tuple((name, value) for name, value in chosen.items() if value)


def random_ranks_options(rng: random.Random, family: str, portable: bool, resizable: bool) -> list[tuple[str, ...]]:
    """Options of the runs of a program with several ranks. sabo moves cores each few steps, whether that pays or not.

    @param resizable whether the program is right where regions that query thread IDs are resized
    """
    result: list[tuple[str, ...]] = []
    for number in range(RANKS_RUNS):
        options = list(rng.choice([(), ("--cores=sabo", f"--balance-every={rng.choice([1, 2, 5])}")]))
        options += rng.choice([(), ("--emulate=core:8 pu:1",), ("--emulate=package:2 core:4 pu:1",)])
        options += rng.choice([(), (), ("--thread-ids=resize",)]) if resizable else ()
        options += rng.choice([(), ("--thread-local-data=resize",)]) if resizable else ()
        options += rng.choice([()] * 3 + [(f"--virtual-threads={rng.choice([2, 5, 16])}",)]) if family == "gcc" else ()
        options += rng.choice([(), (), ("--openmp=llvm",)]) if family == "gcc" and portable else ()
        options += rng.choice([()] * 3 + [(f"--loops={rng.choice(STRATEGIES)}",)])
        options += rng.choice([()] * 6 + [("--lending=off",), ("--wait=poll",), ("--collectives=on",),
                                          ("--blocktime=0",), ("--spin=0",)])
        result.append(tuple(options) if number else ())
    return result


def random_options(rng: random.Random, family: str, portable: bool, learnt: str) -> list[tuple[str, ...]]:
    """Options of the runs under Steelyard, the default ones first. A replay follows the run that it repeats.

    @param portable whether gcc's program also runs on libomp
    @param learnt the file for --loops-learn and --loops-replay
    """
    result: list[tuple[str, ...]] = [()]
    for strategy in rng.sample(STRATEGIES, 3):
        extra = rng.choice([(), (), (f"--loops-chunk={rng.choice([1, 7, 50])}",),
                            (f"--loops-static-percent={rng.choice([0, 30, 100])}",)])
        result.append((f"--loops={strategy}", *extra))
    if rng.random() < 0.6:
        strategy = rng.choice([(), (f"--loops={rng.choice(STRATEGIES)}",)])
        result += [(f"--loops-learn={learnt}", *strategy), (f"--loops-replay={learnt}",)]
    if rng.random() < 0.3:
        result.append(("--observe",))
    if family == "gcc":
        runtimes = ["keep"] + (["llvm"] if portable else [])
        result = [options + rng.choice([(), (), (f"--openmp={rng.choice(runtimes)}",)]) if options else options
                  for options in result]
        result += [(f"--openmp={runtime}",) for runtime in runtimes]
        result.append((f"--virtual-threads={rng.choice([2, 5, 16])}",))
    return result


def simpler(setting: Setting) -> list[Setting]:
    """The setting with one variable or option less."""
    result = [replace(setting, options=tuple(o for o in setting.options if o != left)) for left in setting.options]
    return result + [replace(setting, environment=tuple(v for v in setting.environment if v != left))
                     for left in setting.environment]

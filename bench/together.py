# SPDX-License-Identifier: BSD-3-Clause
"""All five capabilities in one program (examples/together.cpp and .f90): the time that each saves alone, that all save
together, and that all but one save. See `--help` and `--list`."""

import sys
from statistics import median
from typing import Callable

from cores import mpirun
from harness import YIELD, Case, Figure, Measurement, Session, Target, figure, main

# Per capability: the options that switch it off, and the program's own arguments that do.
OFF: dict[str, tuple[list[str], list[str]]] = {
    "cores": (["--cores=off", "--lending=off"], []),
    "loops": (["--loops=off"], []),
    "collectives": (["--collectives=off"], []),
    "phases": ([], ["--phases=off"]),
    "tasks": ([], ["--tasks=off"]),
}
ON = {"collectives": ["--collectives=on"]}  # by default only where ranks are measured to wait less


def words(on: set[str]) -> tuple[list[str], list[str]]:
    """Steelyard's options and the program's arguments with which only these capabilities are on."""
    options = [word for name, (off, _) in OFF.items() for word in (ON.get(name, []) if name in on else off)]
    return options, [word for name, (_, off) in OFF.items() if name not in on for word in off]


def settings() -> dict[str, set[str]]:
    every = set(OFF)
    return {"none": set()} | {f"{name} alone": {name} for name in OFF} | {"all": every} | {
        f"all but {name}": every - {name} for name in OFF}


def figure_name(flavour: str, mode: str, compiler: str) -> str:
    return f"together-{mode}-{flavour}" + ("-fortran" if compiler == "gfortran" else "")


def together(flavour: str, mode: str, compiler: str) -> Callable[[Session], list[Figure]]:
    """4 ranks of 4 sleeping threads on 16 emulated cores, or 2 ranks of one thread on 2 cores."""
    emulated = mode == "emulated"
    ranks, threads = (4, 4) if emulated else (2, 1)
    name_of_run = figure_name(flavour, mode, compiler)

    def measured(session: Session) -> list[Figure]:
        steps, rounds = (4, 1) if session.quick else (25, 5)
        program = [session.program(f"examples/together.{flavour}.{compiler}"), f"--steps={steps}"]
        program += ["--kernel=sleep", "--work=24"] if emulated else ["--work=10"]
        # Threads of a phase that spin after it hold up other ranks; by default only `cores` sees to that.
        variables = {"OMP_NUM_THREADS": str(threads), "GOMP_SPINCOUNT": "0"} | (YIELD if emulated else {})

        def case(label: str, on: set[str]) -> Case:
            options, arguments = words(on)
            node = [f"--emulate=core:{ranks * threads} pu:1"] if emulated else []
            record = f"{name_of_run}-{label.replace(' ', '-')}"
            return Case(label, mpirun(flavour, ranks, session.steelyard(record, *node, *options) + program + arguments),
                        variables)

        cases = {label: case(label, on) for label, on in settings().items()}
        times = session.interleaved(list(cases.values()), rounds)
        saved = {label: [100 * (1 - b / a) for a, b in zip(times["none"], seconds)] for label, seconds in times.items()}
        medians = {label: median(values) for label, values in saved.items()}
        best_four = max(medians[f"all but {name}"] for name in OFF)
        beside = {"the best four": best_four, "sum of each alone": sum(medians[f"{name} alone"] for name in OFF),
                  "s with none": median(times["none"])}
        figures = [figure(name_of_run, mode, saved["all"], "% less time",
                          Target(">=", best_four, or_same=True), cases["all"].shell(), beside)]
        for capability in OFF:
            alone = f"{capability} alone"
            figures.append(figure(f"{name_of_run}-{capability}", mode, saved[alone], "% less time", None,
                                  cases[alone].shell(), {"all but it": medians[f"all but {capability}"]}))
        return figures

    return measured


def measurements(flavours: list[str], quick: bool) -> list[Measurement]:
    return [Measurement(figure_name(flavour, mode, compiler), 10 if quick else 130, together(flavour, mode, compiler))
            for compiler in ("g++", "gfortran") for flavour in flavours for mode in ("emulated", "real")]


if __name__ == "__main__":
    sys.exit(main(__doc__, "together", measurements))

# SPDX-License-Identifier: BSD-3-Clause
"""DLB_Bench of TITUS_DLB itself beside the task pool, on tasks of the same owners and lengths: how `bench/tasks.py
--titus=DIR` starts it and reads what it writes, and the table of both."""

import os
import re
import statistics
import tempfile
from pathlib import Path
from typing import Callable, Sequence

from harness import Case, Failed, Figure, Measurement, Session, figure, number, numbers, run

RANKS = (2, 4, 8, 16)
SECONDS = (1, 5)  # of work per process
TASKS = 1000  # per process
BYTES = 40  # of a task: the ten integers that DLB_Bench adds
SEGMENT = 5 * TASKS * BYTES  # B that thieves reach. The default of DLB_Bench, 10 kB, limits a steal to 250 tasks
PROGRAM = "tests/bin/DLB_Bench.bin"  # where TITUS_DLB's Makefile puts it
NEXT_STEP = "build it as docs/compare.md#titus_dlb says"
LABELS = ("TITUS_DLB", "Steelyard", "Steelyard over TCP")


def program_in(folder: str) -> Path:
    program = Path(folder).resolve() / PROGRAM
    if not (program.is_file() and os.access(program, os.X_OK)):
        raise SystemExit(f"bench: --titus={folder}: there is no program {program}: {NEXT_STEP}, and give its folder")
    return program


def efficiencies(folder: Path, tasks: int, length: float) -> list[float]:
    """Nominal, and as DLB_Bench defines it, in per cent: by the files that its processes wrote. Task k adds up the
    numbers from 10 k to 10 k + 9."""
    if (folder / "result_ref.txt").exists():
        raise Failed(f"titus: DLB_Bench executed its tasks also without TITUS_DLB, so it is not patched: {NEXT_STEP}")
    results = folder / "result.txt"
    if not results.exists() or [int(word) for word in results.read_text().split()] != [
            100 * task + 45 for task in range(tasks)]:
        raise Failed(f"titus: results of the {tasks} tasks are wrong or missing in {results}")
    logs = [log.read_text() for log in sorted(folder.glob("logs_*.out"))]

    def nanoseconds(name: str) -> list[int]:
        found = [re.search(rf"^{name} : (\d+)$", log, re.M) for log in logs]
        if not logs or None in found:
            raise Failed(f"titus: no {name} in {folder}/logs_*.out")
        return [int(entry[1]) for entry in found if entry]

    session = max(nanoseconds("parallel_work_session_time")) * len(logs)
    return [100e9 * tasks * length / session, 100 * sum(nanoseconds("time_spent_solving_tasks")) / session]


def efficiency(program: Path, ranks: int, seconds: int) -> Callable[[Session], list[Figure]]:
    def measured(session: Session) -> list[Figure]:
        tasks, work = (50, 0.1) if session.quick else (TASKS, seconds)
        launch = ["mpirun.openmpi", "-n", str(ranks)]
        pool = [*launch, session.program("bench/tasks.openmpi.g++"), "dlb", f"seconds={work}", f"tasks={tasks}",
                f"bytes={BYTES}", "result=4", "owners=places"]
        pattern = r"(?:efficiency|measured) ([0-9.]+)\n(?=(?s:.*)lost 0\n)"
        one_thread = {"OMP_NUM_THREADS": "1"}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            theirs = Case(LABELS[0], [*launch, "-wdir", name, str(program), f"TASK_NUMBER={ranks * tasks}",
                                      f"TASK_TIME={work / tasks:g}", f"NB_INTEGER_PER_TASK={BYTES // 4}",
                                      f"SHARED_SEGMENT_SIZE={SEGMENT}"], {}, r"time_so_far = (\d+) ms, done")
            ours = [Case(LABELS[1], pool, one_thread, pattern),
                    Case(LABELS[2], [*pool, "node=1"], one_thread | {"OMPI_MCA_btl": "self,tcp"}, pattern)]

            def read(case: Case, limit: float) -> list[float]:
                if case is not theirs:
                    return numbers(case, limit)
                for old in folder.iterdir():
                    old.unlink()
                run(case, limit)
                return efficiencies(folder, ranks * tasks, work / tasks)

            found = session.interleaved([theirs, *ours], 1 if session.quick else 3, read=read)
        beside: dict[str, float] = {"ranks": ranks, "seconds": seconds}
        for label in LABELS:
            nominal, own = (statistics.median(values) for values in zip(*found[label]))
            beside |= {f"{label}, own metric %": own, f"{label} %": nominal}
        return [figure(f"titus-{ranks}-ranks-{seconds}s", "emulated", [nominal for nominal, _ in found[LABELS[1]]], "%",
                       None, theirs.shell(), beside)]

    return measured


def measurements(program: Path, quick: bool) -> list[Measurement]:
    return [Measurement(f"titus-{ranks}-ranks-{seconds}s", 5 if quick else 3 * (8 + ranks + 4 * seconds),
                        efficiency(program, ranks, seconds)) for ranks in RANKS for seconds in SECONDS]


def table(figures: Sequence[Figure]) -> str:
    """Of the figures of TITUS_DLB among all, in Markdown; empty without them."""
    rows = [f.beside for f in figures if f.name.startswith("titus-") and f.value is not None]
    if not rows:
        return ""
    lines = [f"| ranks | s of work | {' | '.join(f'{label}: own metric, nominal' for label in LABELS)} |",
             "|---|---|---|---|---|"]
    for row in rows:
        cells = [f"{number(row[f'{label}, own metric %'])}, {number(row[f'{label} %'])}" for label in LABELS]
        lines.append(f"| {row['ranks']:.0f} | {row['seconds']:.0f} | {' | '.join(cells)} |")
    cores = len(os.sched_getaffinity(0))
    lines.append(f"Efficiency in %, medians of the rounds; emulated: tasks sleep, ranks share {cores} cores. "
                 "TITUS_DLB: GPI-2 over TCP; ranks without tasks poll. Steelyard: shared memory, or each rank as a "
                 "node of its own with messages over TCP; ranks without tasks sleep.")
    return "\n".join(lines)

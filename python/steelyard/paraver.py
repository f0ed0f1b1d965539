# SPDX-License-Identifier: BSD-3-Clause
"""A trace for Paraver: trace.prv with states and events, trace.pcf with what they mean, trace.row with the names of
rows.

A rank is a task of one thread, which stands for its whole team. What it does is cut as in stretches.py.
"""

from __future__ import annotations

import heapq
from datetime import datetime
from pathlib import Path
from typing import Any, Iterator, Optional, TextIO

from .record import Progress, Run
from .samples import Samples, merge
from .stretches import ACTIVITIES, ns, stretches
from .words import outcome

COLOURS = ((47, 127, 193), (223, 156, 16), (239, 196, 180), (185, 166, 217), (120, 120, 72), (61, 20, 84))
STATES = dict(enumerate(zip(ACTIVITIES, COLOURS), 1))
THREADS, DECISION = 92000001, 92000002  # event types; those of the common tracers are others
OUTCOMES = {"declined": 1, "taken": 2, "confirmed": 3, "undone": 4, "undecided": 5, "requested": 6}
MOST = 2_000_000  # samples


def write(run: Run, path: Path, progress: Optional[Progress] = None) -> list[Path]:
    """Writes three files, the first with the given name, and returns their names."""
    files = [path, path.with_suffix(".pcf"), path.with_suffix(".row")]
    with open(path, "w", encoding="ascii", newline="\n") as file:
        _trace(run, file, progress)
    files[1].write_text(_meanings(), encoding="ascii", newline="\n")
    files[2].write_text(_rows(run), encoding="utf-8", newline="\n")
    return files


def _trace(run: Run, file: TextIO, progress: Optional[Progress]) -> None:
    ranks = run.record["ranks"]
    keep = max(2, MOST // max(1, len(ranks)))
    columns = [merge(samples, keep) for _, samples in run.samples()]
    end = max([round(run.record["wall"] * 1e9), *(ns(samples.end[-1]) for samples in columns if len(samples))])
    file.write(_header(run, end))
    lines = [_states(cpu, task, samples) for task, (cpu, samples) in enumerate(zip(_cpus(run), columns), 1)]
    lines.append(_decisions(run))
    of = sum(len(samples) for samples in columns)
    done = 0
    for _, line, samples in heapq.merge(*lines):  # by time, as the format wants them
        file.write(line)
        done += samples
        if progress is not None and samples and done % 1000 == 0:
            progress(done, of)


def _header(run: Run, end: int) -> str:
    when = datetime.strptime(run.record["started"], "%Y-%m-%dT%H:%M:%SZ")
    nodes = {int(str(index)): place for place, index in enumerate(run.nodes.index, 1)}
    cores = ",".join(str(max(1, cores)) for cores in run.nodes["cores"]) or "1"
    tasks = ",".join(f"1:{nodes.get(rank['node'], 1)}" for rank in run.record["ranks"])
    return (
        "#Paraver"
        f" ({when:%d/%m/%Y at %H:%M}):{end}_ns:{max(1, len(nodes))}({cores}):1:{len(run.record['ranks'])}({tasks})\n"
    )


def _cpus(run: Run) -> Iterator[int]:
    """The first core that each rank had, counted over all nodes from 1."""
    first, last = {}, {}
    before = 0
    for index, cores in run.nodes["cores"].items():
        first[index], last[index] = before + 1, before + max(1, cores)
        before += max(1, cores)
    for rank in run.record["ranks"]:
        node = rank["node"]
        yield min(first.get(node, 1), last.get(node, 1))
        first[node] = first.get(node, 1) + rank["threads_at_start"]


def _states(cpu: int, task: int, samples: Samples) -> Iterator[tuple[int, str, int]]:
    """Time, line, and 1 at each first line of a sample."""
    who = f"{cpu}:1:{task}:1"
    before = -1
    for begin, parts, threads in stretches(samples):
        yield begin, f"2:{who}:{begin}:{THREADS}:{threads}\n" if threads != before else "", 1
        before = threads
        for state, length in enumerate(parts, 1):
            if length > 0:
                yield begin, f"1:{who}:{begin}:{begin + length}:{state}\n", 0
                begin += length


def _decisions(run: Run) -> Iterator[tuple[int, str, int]]:
    """At the first rank of the node."""
    tasks: dict[int, tuple[int, int]] = {}
    for task, (cpu, rank) in enumerate(zip(_cpus(run), run.record["ranks"]), 1):
        tasks.setdefault(rank["node"], (cpu, task))
    for decision in sorted(run.record["decisions"], key=lambda d: float(d["time"])):
        if decision["node"] in tasks:
            cpu, task = tasks[decision["node"]]
            time = ns(decision["time"])
            yield time, f"2:{cpu}:1:{task}:1:{time}:{DECISION}:{OUTCOMES[decision['outcome']]}\n", 0


def _meanings() -> str:
    states = "".join(f"{number}    {words}\n" for number, (words, _) in STATES.items())
    colours = "".join(f"{number}    {{{r},{g},{b}}}\n" for number, (_, (r, g, b)) in STATES.items())
    outcomes = "".join(f"{number}      {outcome(name)}\n" for name, number in OUTCOMES.items())
    return (
        "DEFAULT_OPTIONS\n\nLEVEL               TASK\nUNITS               NANOSEC\nLOOK_BACK           100\nSPEED      "
        "         1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n"
        f"DEFAULT_SEMANTIC\n\nTHREAD_FUNC         State As Is\n\n\nSTATES\n0    not recorded\n{states}\n\n"
        f"STATES_COLOR\n0    {{244,246,248}}\n{colours}\n\n"
        f"EVENT_TYPE\n0    {THREADS}    Threads of the rank\n\n\nEVENT_TYPE\n0    {DECISION}    Decision of "
        f"Steelyard\nVALUES\n{outcomes}\n"
    )


def _rows(run: Run) -> str:
    ranks = run.record["ranks"]
    cores = [
        f"{core}.{_plain(host)}"
        for host, count in zip(run.nodes["host"], run.nodes["cores"])
        for core in range(1, max(1, count) + 1)
    ]
    levels: dict[str, list[Any]] = {
        "CPU": cores or ["1"],
        "NODE": [_plain(host) for host in run.nodes["host"]] or ["1"],
        "THREAD": [f"rank {rank['rank']}" for rank in ranks],
    }
    return "\n".join(
        f"LEVEL {name} SIZE {len(names)}\n" + "".join(f"{words}\n" for words in names) for name, names in levels.items()
    )


def _plain(host: str) -> str:
    return "".join(character if character.isprintable() else "_" for character in host) or "_"

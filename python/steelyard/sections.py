"""The sections of the page: each answers the question in its title, or says in a sentence why the record cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional, Sequence

import pandas as pd

from .charts import Bar, bars
from .record import Run
from .samples import most_threads
from .table import Cell, Column, Table, count, meaning, nothing, seconds, share, text
from .verdict import PRINTED, gains, shares
from .words import band, core_time, duration, number, percent, plural

ROWS = 24  # of a chart
MOST = 256  # rows of a table, so that the page stays small

ACTIVITY = (("useful", "computing"), ("omp", "waiting in OpenMP"), ("mpi", "waiting in MPI"))


@dataclass(frozen=True)
class Section:
    name: str
    question: str
    text: Sequence[str] = ()
    legend: Sequence[tuple[str, str]] = ()
    svg: str = ""
    canvas: str = ""
    height: int = 0
    caption: str = ""
    table: Optional[Table] = None
    items: Sequence[str] = ()


def sections(run: Run) -> list[Section]:
    """Those that the record has data for, then one that names the others."""
    makers: list[Callable[[Run], Optional[Section]]] = [
        core_time_section,
        activity,
        cores,
        phases,
        waited_for,
        broadcasts,
        loops,
        tasks,
        tasks_flow,
        efficiency,
        decisions,
        ranks,
        nodes,
    ]
    made = [section for section in (make(run) for make in makers) if section is not None]
    return [*made, *filter(None, [absent(run), how(run)])]


def core_time_section(run: Run) -> Optional[Section]:
    parts = shares(run)
    rows = [
        Bar(
            "all ranks",
            [("useful", parts.useful), ("omp", parts.omp), ("mpi", parts.mpi)],
            f"{percent(parts.useful)} computing",
        )
    ]
    frame = _totals(run)
    if 1 < len(frame) <= ROWS:
        order = frame
    else:
        order = frame.sort_values("mpi", ascending=False).head(ROWS if len(frame) > 1 else 0)
    for rank, row in order.iterrows():
        rows.append(
            Bar(
                f"rank {rank}",
                [(kind, float(row[kind])) for kind, _ in ACTIVITY],
                f"{percent(row['useful'])} computing",
            )
        )
    more = (
        f"Shown are the {len(order)} of {len(frame)} ranks that waited most in MPI."
        if len(frame) > len(order) > 0
        else ""
    )
    if len(run.ranks) == 0:
        return None
    return Section(
        "core-time", "Where did the core time go?", legend=ACTIVITY, svg=bars(rows, percent, 1.0), caption=more
    )


def _totals(run: Run) -> pd.DataFrame:
    """Of each rank, the shares of its core time."""
    ranks = run.ranks
    frame = pd.DataFrame(
        {
            "useful": ranks["useful"],
            "omp": ranks["omp_imbalance"] + ranks["omp_scheduling"] + ranks["omp_serialisation"],
            "mpi": ranks["mpi_capacity"],
        }
    )
    whole = frame.sum(axis=1)
    return frame.div(whole.where(whole > 0), axis=0).fillna(0.0)


def activity(run: Run) -> Optional[Section]:
    if not _samples(run):
        return None
    caption = (
        "A row is a rank. Where a pixel holds more than one activity, their colours are mixed by share; once zoomed in, each "
        "sample computes first and waits in MPI then. Drag to move; the wheel zooms time once the picture was clicked, with Shift "
        "ranks; double-click, arrow keys, + and − work, too."
    )
    if len(run.decisions[run.decisions["outcome"] != "declined"]):
        caption += " Dashed lines: cores moved."
    return Section(
        "timeline",
        "Who computes, who waits, and when?",
        legend=ACTIVITY,
        canvas="activity",
        height=_height(run),
        caption=caption,
    )


def cores(run: Run) -> Optional[Section]:
    if not _samples(run):
        return None
    before, after = run.ranks["threads_at_start"], run.ranks["threads_at_end"]
    changed = int((before != after).sum())
    words = f"All {plural(len(before), 'rank')} ended with the cores that they began with."
    if changed:
        words = f"{plural(changed, 'rank')} of {number(len(before))} ended with other cores than they began with."
    most = max(most_threads(rank["timeline"]) for rank in run.record["ranks"])
    caption = f"The darker or higher, the more threads a rank has; the most is {most}. The picture follows the zoom of the one above."
    return Section(
        "cores", "How many cores did each process have?", [words], canvas="cores", height=_height(run), caption=caption
    )


def _samples(run: Run) -> bool:
    return any(rank["timeline"] for rank in run.record["ranks"])


def _height(run: Run) -> int:
    return int(min(440, max(90, 26 * len(run.ranks)))) + 32


def phases(run: Run) -> Optional[Section]:
    found = gains(run)
    if not found:
        return None
    shown = found[::-1][:ROWS]
    rows = []
    noises = run.nodes[["phase_before_noise", "phase_after_noise"]].to_dict("index")
    for gain in shown:
        before, after = noises[gain.node].values()
        name = f"node {gain.node}" if len(run.nodes) > 1 else "a phase"
        rows.append(Bar(f"{name}, before", [("mpi", gain.before)], duration(gain.before), noise=before))
        words = f"{duration(gain.after)}: {band(abs(gain.value), gain.noise)} {'less' if gain.value > 0 else 'more'}"
        rows.append(
            Bar("after", [("useful", gain.after)], words if len(shown) <= 3 else duration(gain.after), words, after)
        )
    caption = (
        "A phase is what the program repeats between collectives or steps. The bands at the ends of the bars are noise."
    )
    if len(found) > len(shown):
        caption += f" Shown are the {len(shown)} of {len(found)} nodes that gained most."
    return Section("phases", "Did the moves make a phase shorter?", svg=bars(rows, duration), caption=caption)


def waited_for(run: Run) -> Optional[Section]:
    if not len(run.waits):
        return None
    by_cause = run.waits.groupby("waited_for")["seconds"].agg(["sum", "count"]).sort_values("sum", ascending=False)
    known, all_waits = float(by_cause["sum"].sum()), float(run.ranks["mpi"].sum())
    rows = []
    for rank, row in by_cause.head(ROWS).iterrows():
        words = f"{duration(row['sum'])} by {plural(int(row['count']), 'rank')}"
        rows.append(Bar(f"rank {rank}", [("mpi", float(row["sum"]))], words))
    told = (
        f"For {percent(min(1.0, known / all_waits))} of the time that ranks spent in MPI, it is known who came last."
        if all_waits > 0
        else ""
    )
    more = (
        f" Shown are the {ROWS} of {len(by_cause)} ranks that were waited for longest." if len(by_cause) > ROWS else ""
    )
    return Section(
        "waits",
        "Who was waited for?",
        [told + more],
        svg=bars(rows, duration),
        caption="Summed over the ranks that waited.",
    )


def broadcasts(run: Run) -> Optional[Section]:
    frame = run.collectives
    if not len(frame):
        return None
    sums = frame.sum()
    taken = sums["shared"] + sums["tree"] + sums["library"]
    words = (
        [
            f"{percent(sums['shared'] / taken)} of the ranks' {number(taken)} parts in broadcasts went through shared memory alone, "
            f"{percent(sums['tree'] / taken)} along the tree between nodes, {percent(sums['library'] / taken)} were given back to the "
            "MPI library."
        ]
        if taken > 0
        else []
    )
    late = frame[frame["late"] > 0].sort_values("behind", ascending=False)
    if not len(late):
        words.append("No rank came later than the data.")
        return Section("broadcasts", "Who came late to broadcasts?", words)
    rows = [
        Bar(
            f"rank {rank}",
            [("mpi", float(row["behind"] / row["late"]))],
            f"{number(row['late'])} of {number(row['calls'])} times",
        )
        for rank, row in late.head(ROWS).iterrows()
    ]
    caption = "How long after the data the rank came, on average over the broadcasts to which it was late."
    if len(late) > ROWS:
        caption += f" Shown are {ROWS} of {len(late)} ranks."
    return Section("broadcasts", "Who came late to broadcasts?", words, svg=bars(rows, duration), caption=caption)


def loops(run: Run) -> Optional[Section]:
    frame = run.loops.head(MOST)
    if not len(frame):
        return None
    columns = [Column("loop", meaning("loop", "site"), False), Column("divided by", meaning("loop", "strategy"), False)]
    columns += [
        Column(name, meaning("loop", member))
        for name, member in (
            ("time", "time"),
            ("idle", "idle"),
            ("moved", "stolen"),
            ("executions", "executions"),
            ("iterations", "iterations"),
            ("threads", "threads"),
        )
    ]
    table = Table([*columns, Column("why", meaning("loop", "why"), False)])
    for site, row in frame.iterrows():
        ours = row["strategy"] != "runtime"
        table.add(
            text(site),
            text(row["strategy"] if ours else "OpenMP runtime"),
            seconds(row["time"]),
            share(row["idle"], 1),
            share(row["stolen"], 1) if ours else nothing(),
            count(row["executions"]),
            count(row["iterations"]) if row["iterations"] else nothing(),
            count(row["threads"]) if row["threads"] else nothing(),
            text(row["why"]),
            kind="" if ours else "declined",
        )
    caption = "Idle: of the threads' time in the loop. Moved: iterations that other threads than their owners ran."
    return Section("loops", "How were the iterations of each loop divided?", table=table, caption=caption)


def tasks(run: Run) -> Optional[Section]:
    frame = run.tasks
    if not len(frame):
        return None
    sums = frame.sum()
    hops = sums["hops"] / sums["results_sent"] if sums["results_sent"] else 0.0
    busy = sums["busy"] / sums["inside"] if sums["inside"] else 0.0
    words = [
        f"{number(sums['spawned'])} tasks were spawned and {number(sums['executed'])} executed; {percent(busy)} of the time in runs was "
        f"spent in tasks. A result took {hops:.2f} transfers on its way home. No rank talked to more than "
        f"{plural(int(frame['connections'].max()), 'rank')} of other nodes."
    ]
    order = (
        frame.index
        if len(frame) <= ROWS
        else (frame["stolen_here"] + frame["stolen_far"]).sort_values(ascending=False).index[:ROWS]
    )
    rows = []
    for rank in order:
        row = frame.loc[rank]
        parts = [
            ("useful", float(row["executed"] - row["stolen_here"] - row["stolen_far"])),
            ("lent", float(row["stolen_here"])),
            ("omp", float(row["stolen_far"])),
        ]
        rows.append(Bar(f"rank {rank}", parts, f"{number(row['executed'])} of {number(row['spawned'])} spawned"))
    legend = (("useful", "its own"), ("lent", "taken from ranks of the same node"), ("omp", "taken from other nodes"))
    caption = (
        f"Shown are the {len(rows)} of {len(frame)} ranks that took most from others." if len(rows) < len(frame) else ""
    )
    return Section("tasks", "Whose tasks did each process execute?", words, legend, bars(rows, number), caption=caption)


def tasks_flow(run: Run) -> Optional[Section]:
    frame = run.tasks.head(MOST)
    if not len(frame):
        return None
    members = (
        "spawned",
        "executed",
        "stolen_here",
        "stolen_far",
        "results_sent",
        "hops",
        "messages",
        "connections",
        "degree",
    )
    names = (
        "spawned",
        "executed",
        "taken here",
        "taken far",
        "results sent",
        "hops",
        "messages",
        "connections",
        "of possible",
    )
    table = Table(
        [
            Column("rank"),
            *(Column(name, meaning("tasks", member)) for name, member in zip(names, members)),
            Column("in tasks", meaning("tasks", "busy")),
        ]
    )
    for rank, row in frame.iterrows():
        inside = share(row["busy"] / row["inside"]) if row["inside"] else nothing()
        table.add(Cell(str(rank), float(str(rank))), *(count(row[member]) for member in members), inside)
    caption = _first(len(run.tasks), "ranks")
    return Section(
        "task-flow", "How many tasks, results and connections did each process have?", table=table, caption=caption
    )


def efficiency(run: Run) -> Optional[Section]:
    if not len(run.ranks):
        return None
    tree = (
        ("parallel", "parallel efficiency", 0),
        ("mpi", "MPI", 1),
        ("load_balance", "balance of ranks", 2),
        ("load_balance_in", "inside nodes", 3),
        ("load_balance_out", "across nodes", 3),
        ("communication", "communication", 2),
        ("openmp", "OpenMP", 1),
        ("omp_load_balance", "balance of threads", 2),
        ("omp_scheduling", "scheduling", 2),
        ("omp_serialisation", "serialisation", 2),
    )
    rows = [
        Bar(
            "\u2003" * depth + name,
            [("useful", float(run.metrics[member]))],
            percent(run.metrics[member], 1),
            meaning("metrics", member),
        )
        for member, name, depth in tree
    ]
    words = ["As POP and TALP split it: each is the product of those that are indented below it."]
    return Section("efficiency", "What is efficiency lost to?", words, svg=bars(rows, percent, 1.0))


def decisions(run: Run) -> Optional[Section]:
    frame = run.decisions
    if not len(frame):
        return None
    shown = (
        frame
        if len(frame) <= MOST
        else frame.sort_values("forecast_gain", ascending=False).head(MOST).sort_values("time")
    )
    several = len(run.nodes) > 1
    table = Table(
        [
            Column("at"),
            *([Column("node")] if several else []),
            Column("plan", meaning("decision", "what"), False),
            Column("outcome", meaning("decision", "outcome"), False),
            Column("forecast", meaning("decision", "forecast_gain")),
            Column("measured", meaning("decision", "measured_gain")),
            Column("cost", meaning("decision", "cost")),
            Column("why", meaning("decision", "why"), False),
        ]
    )
    for _, row in shown.iterrows():
        measured = nothing()
        if row["outcome"] in ("confirmed", "undone") and (row["measured_gain"] or row["measured_noise"]):
            measured = Cell(band(row["measured_gain"], row["measured_noise"]), float(row["measured_gain"]))
        times = f" ({number(row['repeats'])} times)" if row["repeats"] > 1 else ""
        table.add(
            seconds(row["time"]),
            *([count(row["node"])] if several else []),
            text(row["what"].replace("->", "→") or "stay"),
            text(row["outcome"] + times),
            Cell(band(row["forecast_gain"], row["noise"]), float(row["forecast_gain"])),
            measured,
            seconds(row["cost"]),
            text(row["why"]),
            kind="declined" if row["outcome"] == "declined" else "",
        )
    caption = "Gains are of the time of a phase, with the band of noise. Declined plans are pale."
    if len(shown) < len(frame):
        caption += f" Shown are the {len(shown)} of {len(frame)} decisions with the largest forecast."
    return Section("decisions", "What was decided, why, and what came of it?", table=table, caption=caption)


def ranks(run: Run) -> Optional[Section]:
    frame = run.ranks
    if not len(frame):
        return None
    shown = frame if len(frame) <= MOST else frame.sort_values("mpi", ascending=False).head(MOST).sort_index()
    lends = bool((frame["lent"] >= PRINTED).any() or (frame["borrowed"] >= PRINTED).any())
    columns = [
        Column("rank"),
        Column("node"),
        Column("threads at start", meaning("rank", "threads_at_start")),
        Column("at end", meaning("rank", "threads_at_end")),
        Column("computing", "share of its core time"),
        Column("in OpenMP", "waiting in OpenMP, share of its core time"),
        Column("in MPI", "waiting in MPI, share of its core time"),
        Column("outside MPI", "wall time"),
        Column("waiting in MPI", meaning("totals", "mpi")),
    ]
    if lends:
        columns += [Column("lent", meaning("totals", "lent")), Column("borrowed", meaning("totals", "borrowed"))]
    columns += [Column("regions", meaning("totals", "regions")), Column("MPI calls", meaning("totals", "mpi_calls"))]
    fixed = bool((frame["fixed_reason"] != "").any())
    table = Table(columns + ([Column("threads fixed because", "", False)] if fixed else []))
    parts = _totals(run)
    for (rank, row), (_, part) in zip(shown.iterrows(), parts.loc[shown.index].iterrows()):
        lent = [Cell(core_time(row[name]), float(row[name])) for name in ("lent", "borrowed")] if lends else []
        table.add(
            Cell(str(rank), float(str(rank))),
            count(row["node"]),
            count(row["threads_at_start"]),
            count(row["threads_at_end"]),
            share(part["useful"]),
            share(part["omp"]),
            share(part["mpi"]),
            seconds(row["busy"]),
            seconds(row["mpi"]),
            *lent,
            count(row["regions"]),
            count(row["mpi_calls"]),
            *([text(row["fixed_reason"])] if fixed else []),
        )
    caption = f"Shown are the {MOST} of {number(len(frame))} ranks that waited most." if len(shown) < len(frame) else ""
    return Section("ranks", "What did each rank do in all?", table=table, caption=caption)


def nodes(run: Run) -> Optional[Section]:
    frame = run.nodes.head(MOST)
    if not len(frame):
        return None
    table = Table(
        [
            Column("node"),
            Column("host", "", False),
            Column("ranks"),
            Column("cores", meaning("node", "cores")),
            Column("topology", "", False),
            Column("phases", meaning("node", "phases")),
            Column("marked by", meaning("node", "phase_source"), False),
            Column("before", meaning("node", "phase_before")),
            Column("after", meaning("node", "phase_after")),
            Column("nothing moved because", meaning("node", "nothing_moved"), False),
        ]
    )
    for index, row in frame.iterrows():
        lengths = [
            Cell(f"{duration(row[name])} ± {duration(row[name + '_noise'])}", float(row[name]))
            if row[name] > 0
            else nothing()
            for name in ("phase_before", "phase_after")
        ]
        table.add(
            Cell(str(index), float(str(index))),
            text(row["host"]),
            count(row["ranks"]),
            count(row["cores"]),
            text(row["topology"]),
            count(row["phases"]),
            text(row["phase_source"]),
            *lengths,
            text(row["nothing_moved"] or "–"),
        )
    return Section(
        "nodes",
        "What did each node have, and how long were its phases?",
        table=table,
        caption=_first(len(run.nodes), "nodes"),
    )


def absent(run: Run) -> Optional[Section]:
    """What somebody may look for here, and why it is not there."""
    items = []
    if not _samples(run):
        items.append(
            "No timeline and no cores over time: the record has no samples. It was made with --timeline=0, or no phase ended."
        )
    if run.ranks["lent"].sum() >= PRINTED:
        items.append(
            "Lent cores are not in the timeline: a record holds their sum for each rank, not when they were lent."
        )
    if not len(run.waits) and len(run.ranks) > 1:
        items.append("Who was waited for is not known: no collective was seen on whose members Steelyard could look.")
    if not len(run.collectives):
        items.append("No broadcasts: Steelyard had taken none over (--collectives=on does).")
    elif run.collectives["tree"].sum() > 0:
        items.append(
            "The trees of broadcasts are not drawn: a record counts what went along them, and not who stood where."
        )
    if not len(run.loops):
        items.append(
            "No loops: the program has none with schedule(runtime), dynamic or guided that Steelyard can divide, or the record is older."
        )
    else:
        items.append(
            "What each loop gained is not shown: a record holds its time with the strategy that stayed, not with the others."
        )
    if not len(run.tasks):
        items.append("No tasks: the program called no task pool of Steelyard's.")
    return Section("absent", "What is not here, and why?", items=items) if items else None


def how(run: Run) -> Section:
    record = run.record
    told = [f"--{name}={value}" for name, value in sorted(record["options"].items())]
    items = [
        f"Steelyard {record['version']}, {record['mpi'] or 'no MPI'}, {record['openmp'] or 'no OpenMP runtime'}.",
        f"Seen at work: {', '.join(record['intercepted']) or 'nothing'}.",
        f"Options: {' '.join(told) or 'none'}.",
        'The same numbers as data frames: import steelyard; run = steelyard.load("run.json"); run.ranks, run.timeline, run.decisions.',
    ]
    return Section("how", "How was this measured?", items=items)


def _first(rows: int, noun: str) -> str:
    return f"Shown are the first {MOST} of {number(rows)} {noun}." if rows > MOST else ""

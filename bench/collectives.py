# SPDX-License-Identifier: BSD-3-Clause
"""The figures of `collectives`: broadcasts with late ranks, and without. See `--help`."""

import statistics
import sys
from typing import Callable

from harness import TREE, Case, Failed, Figure, Measurement, Session, Target, figure, main, numbers

SIZES = {"1KiB": 1 << 10, "64KiB": 1 << 16, "1MiB": 1 << 20}
ROUNDS = 30  # broadcasts in a run of the libraries' own, which takes MPICH minutes; the first half is not counted
OURS = 1000  # in a run under Steelyard, which looks at the library's the more seldom the longer it goes on
LATE = 10_000  # us, the delay of a loaded rank; persistent and transient loads are up to this
PAPER = {"paper, total time %": 40}


def launch(flavour: str, ranks: int, *command: str) -> list[str]:
    return [f"mpirun.{flavour}", "-n", str(ranks), *command]


def waiting(session: Session, flavour: str, ranks: int, pattern: str, size: int, rounds: int, *options: str,
            plain: bool = False) -> Case:
    """The mean time in a broadcast by rank. With options: under Steelyard."""
    program = [session.program(f"bench/collectives.{flavour}.gcc"), "wait", pattern, str(size), str(rounds), str(LATE)]
    under = session.steelyard("collectives", *options, "--summary=off") if options else []
    label = " ".join(options) or ("binomial" if plain else flavour)
    return Case(label, launch(flavour, ranks, *under, *program, *(["binomial"] if plain else [])),
                {"OMP_NUM_THREADS": "1"},
                r"wait +([0-9.]+)")


def less(ours: list[float], theirs: list[float]) -> list[float]:
    return [100 * (1 - a / b) for a, b in zip(ours, theirs)]


def late(pattern: str, ranks: int, name: str, goal: float) -> Callable[[Session], list[Figure]]:
    """Of what the better of the MPI libraries lets its ranks wait, how much is saved on the node."""

    def measured(session: Session) -> list[Figure]:
        size = SIZES[name]
        cases = []
        for flavour in FLAVOURS:
            steelyard = waiting(session, flavour, ranks, pattern, size, OURS, "--collectives=auto")
            steelyard.label = f"steelyard on {flavour}"
            cases += [waiting(session, flavour, ranks, pattern, size, ROUNDS), steelyard]
        times = session.interleaved(cases, 1 if session.quick else 3)
        better = min(FLAVOURS, key=lambda flavour: statistics.median(times[flavour]))
        beside = {f"{label} us": statistics.median(values) for label, values in times.items()}
        return [figure(f"{pattern}-{ranks}-{name}-{flavour}", "emulated",
                       less(times[f"steelyard on {flavour}"], times[better]),
                       "% less time in the broadcast", Target(">=", goal), case.shell(), beside)
                for flavour, case in zip(FLAVOURS, cases[1::2])]

    return measured


def between_nodes(flavour: str, ranks: int, name: str) -> Callable[[Session], list[Figure]]:
    """Every rank a node of its own: what the policies make of a tree whose first receiver is late."""

    def measured(session: Session) -> list[Figure]:
        size = SIZES[name]
        policies = ["binomial", "swap", "sort", "auto", "library"]
        cases = [waiting(session, flavour, ranks, "first", size, 80, "--collectives=on", "--ranks-per-node=1",
                         "--collectives-tree-every=4", f"--collectives-tree={policy}") for policy in policies]
        for case, policy in zip(cases, policies):
            case.label = policy
        cases.append(waiting(session, flavour, ranks, "first", size, ROUNDS))
        times = session.interleaved(cases, 1 if session.quick else 3)
        beside = {f"{label} us": statistics.median(values) for label, values in times.items()}
        goals = {"swap": (Target(">=", 40), PAPER), "sort": (None, {}), "auto": (None, {})}
        return [figure(f"tree-{policy}-{ranks}-{name}-{flavour}", "emulated", less(times[policy], times["binomial"]),
                       "% less time than binomial", target, cases[policies.index(policy)].shell(), beside | more)
                for policy, (target, more) in goals.items()]

    return measured


def soga(flavour: str, ranks: int, name: str) -> Callable[[Session], list[Figure]]:
    """The paper's experiment, each rank a node of its own: its rule as printed, and our default, to a fixed tree. The
    paper gives no threshold: 0 reports each wait."""

    def measured(session: Session) -> list[Figure]:
        ways = {"binomial": ("--collectives=on", "--collectives-tree=binomial"),
                "soga": ("--collectives=on", "--collectives-tree=soga", "--collectives-tree-every=4",
                         "--collectives-tree-threshold=0"),
                "default": ()}
        cases = []
        for label, options in ways.items():
            # The default begins with the library, and builds its tree at the 64th broadcast.
            rounds = 20 if session.quick else 640 if label == "default" else 160
            cases.append(waiting(session, flavour, ranks, "first", SIZES[name], rounds, "--ranks-per-node=1", *options))
            cases[-1].label = label
        times = session.interleaved(cases, 1)
        beside = {f"{label} us": statistics.median(values) for label, values in times.items()}
        gains = {label: less(times[label], times["binomial"]) for label in ("soga", "default")}
        beside = PAPER | {"their rule %": gains["soga"][0], "our default %": gains["default"][0]} | beside
        return [figure(f"soga-{ranks}-{name}-{flavour}", "emulated", gains["soga"], "% less time than binomial", None,
                       cases[1].shell(), beside)]

    return measured


def adaptation(flavour: str, ranks: int) -> Callable[[Session], list[Figure]]:
    """Another rank becomes the late one: broadcasts until the waits are down, in optimisation periods."""

    def measured(session: Session) -> list[Figure]:
        every = 4
        case = waiting(session, flavour, ranks, "moving", SIZES["1KiB"], 240, "--collectives=on", "--ranks-per-node=1",
                       "--collectives-tree=sort", f"--collectives-tree-every={every}")
        case.pattern = r"(?m)^(?:adapted|moved|settled) +([0-9.]+)$"
        found = [numbers(case, 300) for _ in range(1 if session.quick else 5)]
        adapted, moved, settled = (list(column) for column in zip(*found))
        return [figure(f"adaptation-{ranks}-{flavour}", "emulated", [t / every for t in adapted], "periods",
                       Target("<=", 3), case.shell(),
                       {"broadcasts a period": every, "after the move us": statistics.median(moved),
                        "settled us": statistics.median(settled)})]

    return measured


def latency(session: Session, flavour: str, ranks: int, size: int, *options: str) -> tuple[float, float, float]:
    """MPI_Bcast and the library's own PMPI_Bcast in turn, in one run: their ratio, and the time in either, us."""
    blocks = 5 if session.quick else 21
    under = session.steelyard("collectives", *options, "--summary=off") if options else []
    command = launch(flavour, ranks, *under, session.program(f"bench/collectives.{flavour}.gcc"), "latency", str(size),
                     str(blocks))
    case = Case("latency", command, {"OMP_NUM_THREADS": "1"}, r"(?m)^(?:ratio|ours|native) ([0-9.]+)$")
    ratio, ours, native = numbers(case, 300)
    return ratio, ours, native


def in_time(flavour: str, ranks: int, size: int) -> Callable[[Session], list[Figure]]:
    """All come at once: without Steelyard, with it and no broadcast looked at, and as it is by default."""

    def measured(session: Session) -> list[Figure]:
        found: dict[str, list[tuple[float, float, float]]] = {"": [], "--collectives=off": [], "--collectives=auto": [],
                                                              "--collectives=on": []}
        for _ in range(1 if session.quick else 5):
            for option, values in found.items():
                values.append(latency(session, flavour, ranks, size, *filter(None, [option])))
        median = {option: [statistics.median(column) for column in zip(*values)] for option, values in found.items()}
        beside = {"alone us": median[""][1], "native us": median["--collectives=auto"][2]}
        beside |= {f"{option[14:]} us": median[option][1] for option in found if option}
        beside |= {f"{option[14:]} %": 100 * (median[option][0] - 1)
                   for option in ("--collectives=off", "--collectives=on")}
        return [figure(f"in-time-{ranks}-{size}B-{flavour}", "real",
                       [100 * (ratio - 1) for ratio, _, _ in found["--collectives=auto"]],
                       "% slower than native", Target("<=", 5),
                       f"bench/collectives.py --only in-time-{ranks}-{size}B-{flavour}", beside)]

    return measured


def short_calls(flavour: str, operation: str, size: int) -> Callable[[Session], list[Figure]]:
    """Calls without a pause between them: what Steelyard adds to one, by default, without broadcasts, and observing."""

    def measured(session: Session) -> list[Figure]:
        ways = {"none": None, "default": (), "off": ("--collectives=off",), "observe": ("--observe",)}
        command = [session.program(f"bench/collectives.{flavour}.gcc"), "short", operation, str(size),
                   "21" if session.quick else "101"]
        found: dict[str, list[list[float]]] = {way: [] for way in ways}
        for _ in range(1 if session.quick else 5):
            for way, options in ways.items():
                under = [] if options is None else session.steelyard("default", *options, "--summary=off")
                case = Case(way, launch(flavour, 2, *under, *command), {"OMP_NUM_THREADS": "1"},
                            r"(?m)^(?:added|ours|native) (-?[0-9.]+)$")
                found[way].append(numbers(case, 300))
        median = {way: [statistics.median(column) for column in zip(*values)] for way, values in found.items()}
        beside = {"alone ns": median["none"][1], "native ns": median["default"][2]}
        beside |= {f"{way} ns": median[way][1] for way in ways if way != "none"}
        beside |= {f"{way} added ns": median[way][0] for way in ("none", "off", "observe")}
        name = f"short-{operation}-{size}B-{flavour}"
        target = Target("<=", 20 if size <= 1 << 10 else 0.05 * median["default"][2])
        return [figure(name, "real", [added for added, _, _ in found["default"]], "ns added to a call", target,
                       f"bench/collectives.py --only {name}", beside)]

    return measured


def waste(flavour: str, ranks: int, name: str) -> Callable[[Session], list[Figure]]:
    """What each rank waits in the library's own collectives, and need not, with one late rank."""

    def measured(session: Session) -> list[Figure]:
        figures = []
        for operation in ("reduce", "allreduce", "gather", "scatter", "bcast"):
            program = [session.program(f"bench/collectives.{flavour}.gcc"), "waste", operation, str(SIZES[name]), "20",
                       str(LATE)]
            cases = [Case(what, launch(flavour, ranks, *program), {},
                          rf"{what} +([0-9.]+)") for what in ("wasted", "spent")]
            times = session.interleaved(cases, 1 if session.quick else 2)
            figures.append(figure(f"waste-{operation}-{ranks}-{name}-{flavour}", "emulated", times["wasted"],
                                  "us a rank and call", None,
                                  cases[0].shell(), {"in the call us": statistics.median(times["spent"])}))
        return figures

    return measured


def scatters(flavour: str, ranks: int, name: str) -> Callable[[Session], list[Figure]]:
    """The same of scatters that Steelyard may take over: how much less time ranks are in them."""

    def measured(session: Session) -> list[Figure]:
        program = [session.program(f"bench/collectives.{flavour}.gcc"), "waste", "scatter", str(SIZES[name])]
        under = session.steelyard("collectives", "--collectives=auto", "--summary=off")
        cases = [Case("native", launch(flavour, ranks, *program, "20", str(LATE)), {}, r"spent +([0-9.]+)"),
                 Case("steelyard", launch(flavour, ranks, *under, *program, "150", str(LATE)), {}, r"spent +([0-9.]+)")]
        times = session.interleaved(cases, 1 if session.quick else 3)
        beside = {f"{label} us": statistics.median(values) for label, values in times.items()}
        return [figure(f"scatter-{ranks}-{name}-{flavour}", "emulated", less(times["steelyard"], times["native"]),
                       "% less time in the call",
                       None, cases[1].shell(), beside)]

    return measured


def simulated_tree(ranks: int, name: str) -> Callable[[Session], list[Figure]]:
    """`between_nodes` without the noise of few cores: the paper's experiment."""

    def measured(session: Session) -> list[Figure]:
        waits: dict[str, float] = {}
        for policy in ("binomial", "swap", "sort"):
            command = [str(TREE / "sim/simulate.sh"), str(ranks), "--cfg=smpi/allgather:bruck",
                       session.program("sim/collectives_smpi"),
                       "late", str(SIZES[name]), "60", str(LATE), "steelyard", f"rank={ranks // 2}", "node=1",
                       f"policy={policy}"]
            case = Case(policy, command, {"machine": str(TREE / "sim/fat_tree.xml")}, r"wait +([0-9.]+)")
            [waits[policy]] = numbers(case, 300)
        beside = {f"{policy} us": wait for policy, wait in waits.items()} | PAPER
        return [figure(f"simulated-tree-swap-{ranks}-{name}", "simulated", less([waits["swap"]], [waits["binomial"]]),
                       "% less time than binomial", Target(">=", 40), case.shell(), beside)]

    return measured


def simulated(ranks: int, name: str) -> Callable[[Session], list[Figure]]:
    """The tree on SimGrid's ranks, a rank 1 ms late, beside SimGrid's own algorithms, those for arrival patterns
    first."""

    def measured(session: Session) -> list[Figure]:
        program = session.program("sim/collectives_smpi")
        machine = {"machine": str(TREE / "sim/fat_tree.xml")}

        def case(label: str, rounds: int, words: list[str], *settings: str) -> Case:
            command = [str(TREE / "sim/simulate.sh"), str(ranks),
                       *(f"--cfg=smpi/{setting}" for setting in settings), program]
            command += ["late", str(SIZES[name]), str(rounds), "1000", *words, f"rank={ranks // 2}"]
            return Case(label, command, machine, r"wait +([0-9.]+)")

        ours = case("steelyard", 32, ["steelyard"], "allgather:bruck")
        [wait] = numbers(ours, 3600)
        waits: dict[str, float] = {}
        broken = []
        for algorithm in ("arrival_pattern_aware", "arrival_pattern_aware_wait", "arrival_scatter", "binomial_tree",
                          "ompi"):
            # Some of them poll: as often as they like, and it takes hardly any time.
            theirs = case(algorithm, 8, ["library"], f"bcast:{algorithm}", "iprobe:1e-7", "test:1e-7")
            try:
                [waits[algorithm]] = numbers(theirs, 600)
            except Failed:
                broken.append(algorithm)  # SimGrid 3.32 has some that crash beyond some hundred ranks
        beside = {"steelyard us": wait} | {f"{algorithm} us": waited for algorithm, waited in waits.items()}
        unit = "% less time than SimGrid's best" + (f" (without {' and '.join(broken)}, which fail)" if broken else "")
        return [figure(f"simulated-{ranks}-{name}", "simulated", less([wait], [min(waits.values())]), unit,
                       Target(">=", 0), ours.shell(),
                       beside)]

    return measured


FLAVOURS = ["openmpi", "mpich"]


def measurements(flavours: list[str], quick: bool) -> list[Measurement]:
    FLAVOURS[:] = flavours
    shapes = [(8, "1KiB")] if quick else [(8, "1KiB"), (8, "64KiB"), (8, "1MiB"), (32, "1KiB"), (32, "64KiB"),
                                          (32, "1MiB"), (64, "64KiB")]
    everything = []
    for ranks, name in shapes:
        for pattern, goal in (("first", 60), ("persistent", 40), ("transient", -2)):
            if pattern == "first" or quick or (name == "64KiB" and ranks <= 32):
                everything.append(Measurement(f"{pattern}-{ranks}-{name}", 4 if quick else ranks,
                                              late(pattern, ranks, name, goal)))
    for flavour in flavours:
        ranks = 8 if quick else 32
        everything.append(Measurement(f"tree-{ranks}-64KiB-{flavour}", 10 if quick else 50,
                                      between_nodes(flavour, ranks, "64KiB")))
        everything.append(Measurement(f"adaptation-8-{flavour}", 5 if quick else 15, adaptation(flavour, 8)))
        for size in (8,) if quick else (8, 1 << 10, 1 << 16, 1 << 20):
            everything.append(Measurement(f"in-time-2-{size}B-{flavour}", 4 if quick else 12,
                                          in_time(flavour, 2, size)))
        for operation in ("bcast", "allreduce", "reduce", "barrier"):
            for size in (8,) if quick or operation == "barrier" else (8, 1 << 10, 1 << 16):
                everything.append(Measurement(f"short-{operation}-{size}B-{flavour}", 4 if quick else 40,
                                              short_calls(flavour, operation, size)))
        for name in ("1KiB",) if quick else ("1KiB", "64KiB"):
            everything.append(Measurement(f"waste-8-{name}-{flavour}", 8 if quick else 30, waste(flavour, 8, name)))
            everything.append(Measurement(f"scatter-8-{name}-{flavour}", 8 if quick else 20,
                                          scatters(flavour, 8, name)))
    for name in ("1KiB",) if quick else ("1KiB", "64KiB"):
        ranks = 56 if quick else 1024
        everything.append(Measurement(f"simulated-tree-32-{name}", 15, simulated_tree(32, name)))
        everything.append(Measurement(f"simulated-{ranks}-{name}", 10 if quick else 90, simulated(ranks, name)))
    for flavour in flavours:
        for ranks in (8,) if quick else (8, 16, 32, 64):
            for name in ("1KiB",) if quick else ("1KiB", "64KiB", "1MiB"):
                everything.append(Measurement(f"soga-{ranks}-{name}-{flavour}", 8 + ranks / 2,
                                              soga(flavour, ranks, name)))
    everything.append(Measurement("simulated-4096-1KiB", 1200, simulated(4096, "1KiB"), only_by_name=True))
    return everything


if __name__ == "__main__":
    sys.exit(main(__doc__, "collectives", measurements))

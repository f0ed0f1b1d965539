# SPDX-License-Identifier: BSD-3-Clause
"""What is written is read back: Perfetto's by its own protobuf classes, Paraver's after the description of its
format."""

import dataclasses
import io
import json
import re
from collections import Counter, defaultdict

import pytest

import steelyard
import synthetic
from steelyard import paraver, samples, talp

RANKS, STEPS = 5, 30


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("traces") / "run.json"
    record = synthetic.record(RANKS, STEPS, packed=False)
    kept = samples.unpack(record["ranks"][1]["timeline"])
    rare = dataclasses.replace(kept, lent=kept.mpi_wait * kept.threads / 2, quiesced=kept.mpi_wait / 4,
                               gpu_wait=(kept.end - kept.start - kept.mpi_wait) / 2)
    record["ranks"][1]["timeline"] = synthetic.pack(rare)
    path.write_text(json.dumps(record))
    return steelyard.load(path)


def spent(run):
    """By rank: seconds of computing, of OpenMP waits, of MPI waits, of those in which cores were lent or it
    slept, and of waits for accelerators."""
    for rank, kept in run.samples():
        length = kept.end - kept.start
        mpi, omp = (length * kept.mpi_share).sum(), (length * kept.omp_share).sum()
        lent, asleep = (mpi / 2, mpi / 4) if rank == 1 else (0, 0)
        gpu = (length.sum() - mpi) / 2 if rank == 1 else 0
        yield rank, [length.sum() - mpi - omp - gpu, omp, mpi - lent - asleep, lent, asleep, gpu]


def test_perfetto(run):
    protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    from steelyard import perfetto

    file = io.BytesIO()
    perfetto.write(run, file)
    trace = protos.Trace()
    trace.ParseFromString(file.getvalue())
    names, processes, tracks = {}, {}, {}
    open_slices, times, seconds = {}, {}, defaultdict(Counter)
    threads, instants = defaultdict(list), []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        descriptor, event = packet.track_descriptor, packet.track_event
        if packet.HasField("track_descriptor"):
            if descriptor.HasField("process"):
                processes[descriptor.uuid] = descriptor.process.process_name
            else:
                tracks[descriptor.uuid] = processes[descriptor.parent_uuid], descriptor.HasField("counter")
            continue
        if not packet.HasField("track_event"):
            continue
        track = event.track_uuid
        assert packet.timestamp >= times.get(track, 0), "by time on each track"
        times[track] = packet.timestamp
        if event.type == protos.TrackEvent.TYPE_SLICE_BEGIN:
            assert track not in open_slices and packet.sequence_flags == 2
            open_slices[track] = names[event.name_iid], packet.timestamp
        elif event.type == protos.TrackEvent.TYPE_SLICE_END:
            name, begin = open_slices.pop(track)
            seconds[tracks[track][0]][name] += (packet.timestamp - begin) * 1e-9
        elif event.type == protos.TrackEvent.TYPE_COUNTER:
            assert tracks[track][1]
            threads[tracks[track][0]].append(event.counter_value)
        else:
            instants.append((event.name, {note.name: note.string_value for note in event.debug_annotations}))
    assert not open_slices
    assert set(processes.values()) == {"Steelyard", *(f"rank {rank} (node 0)" for rank in range(RANKS))}
    for rank, expected in spent(run):
        found = seconds[f"rank {rank} (node 0)"]
        assert [found[name] for name in perfetto.ACTIVITIES] == pytest.approx(expected, abs=1e-6)
        assert threads[f"rank {rank} (node 0)"][-1] == run.ranks.loc[rank, "threads_at_end"]
    ((name, notes),) = instants
    assert name.startswith("confirmed: threads") and notes["measured"] == "19.0 % (95 % CI 18.0 to 20.0 %)"


HEADER = re.compile(
    r"#Paraver \((\d\d)/(\d\d)/(\d{4}) at (\d\d):(\d\d)\):(\d+)_ns:(\d+)\(([\d,]+)\):1:(\d+)\(((?:1:\d+,?)+)\)"
)


def test_paraver(run, tmp_path):
    files = paraver.write(run, tmp_path / "trace.prv")
    assert [file.name for file in files] == ["trace.prv", "trace.pcf", "trace.row"]
    head, *lines = files[0].read_text().splitlines()
    *_, end, nodes, cores, tasks, where = HEADER.fullmatch(head).groups()
    cores = [int(count) for count in cores.split(",")]
    assert len(cores) == int(nodes) == 1 and int(tasks) == RANKS == len(where.split(","))
    meanings = files[1].read_text()
    states = set(
        map(int, re.findall(r"^(\d+)    \S", meanings.split("STATES\n")[1].split("STATES_COLOR")[0], re.MULTILINE))
    )
    types = set(map(int, re.findall(r"^0    (\d+)    ", meanings, re.MULTILINE)))
    last, busy, seconds = 0, defaultdict(int), defaultdict(lambda: [0] * len(paraver.STATES))
    for line in lines:
        kind, cpu, application, task, thread, begin, *rest = map(int, line.split(":"))
        assert 1 <= cpu <= sum(cores) and application == thread == 1 and 1 <= task <= RANKS
        assert last <= begin <= int(end), "by time"
        last = begin
        if kind == 1:
            stop, state = rest
            assert begin < stop <= int(end) and state in states
            assert begin >= busy[task], "states of a thread do not overlap"
            busy[task] = stop
            seconds[task - 1][state - 1] += (stop - begin) * 1e-9
        else:
            assert kind == 2 and len(rest) == 2 and rest[0] in types
    for rank, expected in spent(run):
        assert seconds[rank] == pytest.approx(expected, abs=1e-6)
    for level, size in (("CPU", sum(cores)), ("NODE", 1), ("THREAD", RANKS)):
        names = files[2].read_text().split(f"LEVEL {level} SIZE {size}\n")[1].split("\nLEVEL")[0].splitlines()
        assert len([name for name in names if name]) == size


def test_traces_of_nothing(example, tmp_path):
    record = json.loads(example.read_text())
    record.update(ranks=[], nodes=[], decisions=[])
    path = tmp_path / "nothing.json"
    path.write_text(json.dumps(record))
    run = steelyard.load(path)
    assert len(paraver.write(run, tmp_path / "trace.prv")) == 3
    assert talp.talp(run)["resources"]["numMpiRanks"] == 0
    pytest.importorskip("perfetto")
    from steelyard import perfetto

    perfetto.write(run, io.BytesIO())


def test_talp_has_each_named_region(written):
    rich = steelyard.load(written / "rich.json")
    regions = talp.talp(rich)["Application"]
    assert list(regions) == ["Global", "solve", "output"]
    solve, output = regions["solve"], regions["output"]
    assert solve["elapsedTime"] == pytest.approx(6.2e9) and solve["numMeasurements"] == 8 * 40
    assert solve["parallelEfficiency"] == rich.regions.loc["solve", "parallel"]
    assert solve["usefulTime"] == pytest.approx(1e9 * rich.region_ranks.query("region == 'solve'")["useful"].sum())
    assert (output["numCpus"], output["numNodes"], output["numMeasurements"]) == (6, 1, 1)
    rich.record["regions"][1]["name"] = "Global"
    assert list(talp.talp(rich)["Application"]) == ["Global", "solve", "Global (region)"]


# What talp-pages 3.8 takes from the file, by the names that DLB 3.5 writes.
METRICS = """parallelEfficiency mpiParallelEfficiency mpiCommunicationEfficiency mpiLoadBalance mpiLoadBalanceIn
    mpiLoadBalanceOut ompParallelEfficiency ompLoadBalance ompSchedulingEfficiency ompSerializationEfficiency""".split()


def test_talp(run):
    written = json.loads(talp.text(run))
    region = written["Application"]["Global"]
    assert written["dlbVersion"].startswith("3.5") and written["timestamp"] == "2026-01-02T03:04:05"
    assert written["resources"] == {"numCpus": 6 * RANKS, "numNodes": 1, "numMpiRanks": RANKS}
    assert region["elapsedTime"] == pytest.approx(run.record["wall"] * 1e9)
    assert all(0 <= region[name] <= 1 for name in METRICS)
    assert region["mpiParallelEfficiency"] * region["ompParallelEfficiency"] == pytest.approx(
        region["parallelEfficiency"], rel=0.02
    )
    assert region["mpiLoadBalanceIn"] * region["mpiLoadBalanceOut"] == pytest.approx(region["mpiLoadBalance"])
    assert region["usefulTime"] / region["numCpus"] / region["elapsedTime"] == pytest.approx(
        region["parallelEfficiency"]
    )
    assert {"cycles", "instructions"} <= set(region), "talp-pages reads them, measured or not"

# SPDX-License-Identifier: BSD-3-Clause
"""A trace for the Perfetto UI (https://ui.perfetto.dev), in its protobuf format.

A rank is a process with one track of what it does (stretches.py) and a counter of its threads. Decisions are instants
of their own.
"""

from __future__ import annotations

from typing import Any, BinaryIO, Optional

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

from .record import Progress, Run
from .samples import Samples, merge
from .stretches import ACTIVITIES, ns, stretches
from .words import band, bounds, outcome, percent

MOST = 1_000_000  # samples; more than the UI opens in good time
SEQUENCE = 1
NEW_SEQUENCE = 1  # TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
USES_NAMES = 2  # TracePacket.SEQ_NEEDS_INCREMENTAL_STATE


def write(run: Run, file: BinaryIO, progress: Optional[Progress] = None) -> None:
    """`progress(done, of)` is told after each rank."""
    trace = _Trace(file)
    trace.decisions(run)
    ranks = run.record["ranks"]
    keep = max(2, MOST // max(1, len(ranks)))
    for done, (record, (_, samples)) in enumerate(zip(ranks, run.samples()), 1):
        trace.rank(record, merge(samples, keep))
        if progress is not None:
            progress(done, len(ranks))


class _Trace:
    def __init__(self, file: BinaryIO) -> None:
        self.builder = StreamingTraceProtoBuilder(file)
        packet = self._packet(0)
        packet.sequence_flags = NEW_SEQUENCE
        for number, words in enumerate(ACTIVITIES, 1):
            name = packet.interned_data.event_names.add()
            name.iid, name.name = number, words
        self.builder.write_packet(packet)

    def rank(self, record: dict[str, Any], samples: Samples) -> None:
        process = 1 + 3 * (record["rank"] + 1)
        self._process(process, record["rank"] + 1, f"rank {record['rank']} (node {record['node']})")
        self._track(process + 1, process, "what it does")
        self._track(process + 2, process, "threads", counter=True)
        threads = -1
        for begin, parts, now in stretches(samples):
            if now != threads:
                self._count(process + 2, begin, threads := now)
            for number, length in enumerate(parts, 1):
                if length > 0:
                    self._slice(process + 1, begin, begin + length, number)
                    begin += length

    def decisions(self, run: Run) -> None:
        if not len(run.decisions):
            return
        self._process(1, 0, "Steelyard")
        self._track(2, 1, "decisions")
        for _, row in run.decisions.iterrows():
            event = self._event(2, ns(row["time"]), TrackEvent.TYPE_INSTANT)
            word = outcome(row["outcome"])
            event.track_event.name = f"{word}: {row['what']}" if row["what"] else word
            forecast = f"{percent(row['forecast_gain'], 1)} ({bounds(row['forecast_low'], row['forecast_high'])})"
            told = {"why": row["why"], "node": str(row["node"]), "forecast": forecast}
            undecided = row["outcome"] == "undecided" and row["measured_high"] > row["measured_low"]
            if row["outcome"] in ("confirmed", "undone") or undecided:
                bounded = (row["measured_gain"], row["measured_low"], row["measured_high"])
                told["measured"] = band(*bounded, run.confidence)
            for name, words in told.items():
                note = event.track_event.debug_annotations.add()
                note.name, note.string_value = name, words
            self.builder.write_packet(event)

    def _process(self, track: int, pid: int, name: str) -> None:
        packet = self._packet(0)
        packet.track_descriptor.uuid = track
        packet.track_descriptor.process.pid = pid
        packet.track_descriptor.process.process_name = name
        self.builder.write_packet(packet)

    def _track(self, track: int, parent: int, name: str, counter: bool = False) -> None:
        packet = self._packet(0)
        packet.track_descriptor.uuid, packet.track_descriptor.parent_uuid = track, parent
        packet.track_descriptor.name = name
        if counter:
            packet.track_descriptor.counter.SetInParent()
        self.builder.write_packet(packet)

    def _slice(self, track: int, begin: int, end: int, name: int) -> None:
        event = self._event(track, begin, TrackEvent.TYPE_SLICE_BEGIN)
        event.track_event.name_iid = name
        event.sequence_flags = USES_NAMES
        self.builder.write_packet(event)
        self.builder.write_packet(self._event(track, end, TrackEvent.TYPE_SLICE_END))

    def _count(self, track: int, time: int, value: int) -> None:
        event = self._event(track, time, TrackEvent.TYPE_COUNTER)
        event.track_event.counter_value = value
        self.builder.write_packet(event)

    def _event(self, track: int, time: int, kind: int) -> Any:
        packet = self._packet(time)
        packet.track_event.type, packet.track_event.track_uuid = kind, track
        return packet

    def _packet(self, time: int) -> Any:
        packet = self.builder.create_packet()
        packet.timestamp, packet.trusted_packet_sequence_id = time, SEQUENCE
        return packet

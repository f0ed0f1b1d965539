# SPDX-License-Identifier: BSD-3-Clause
"""The sentences on the page say what the summary on the terminal says."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import steelyard
from steelyard import words
from steelyard.summary import gains, shares, summary


def fixed(reason, remark=None):
    """Three ranks keep their thread count; `remark` of the record."""

    def change(record):
        for rank in record["ranks"][1:4]:
            rank["fixed_reason"] = reason
        if remark is not None:
            record["remarks"].append(remark)

    return change


def test_a_reason_is_told_once(example, tmp_path):
    """The remark about regions of all ranks has the reason of those that keep their thread count for it."""
    reason = "regions that query thread IDs kept their thread count"
    remark = f"{reason} (2 regions, 80 % of the time in regions): solve"
    notes = summary(run_of(example, tmp_path, fixed(reason, remark))).notes
    assert [note for note in notes if reason in note] == [remark]


def run_of(example, tmp_path, change):
    record = json.loads(example.read_text())
    change(record)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(record))
    return steelyard.load(path)


def test_example(example):
    found = summary(steelyard.load(example))
    assert (
        found.headline == "Cores were moved to the critical ranks: a step takes 21.9 % (95 % CI 21.5 to 22.3 %) less "
                          "time."
    )
    assert "Ranks 3–7 spent 28 % to 32 % of their time in MPI, 84 % of it waiting for rank 0." in found.waiting
    assert found.moved.startswith("Cores moved once, at 1.20 s. Threads: 6 each → 9, 7, 7, 6, 6, 5, 4, 4.")
    assert found.helped == "Yes: a step takes 47.8 ms instead of 61.2 ms, 21.9 % (95 % CI 21.5 to 22.3 %) less time."
    assert found.notes == ["rank 6: the program sets num_threads(4): its thread count was not changed"]


def test_ranks_that_wait_for_each_other(example, tmp_path):
    def mutual(record):
        record["ranks"] = record["ranks"][3:5]
        for rank, other in zip(record["ranks"], (4, 3)):
            rank["waited_for"] = {str(other): rank["totals_ns"]["mpi"] * 1e-9}

    said = summary(run_of(example, tmp_path, mutual)).waiting
    assert "100 % of it waiting for each other." in said, said


def test_sleep_in_a_phase_is_no_time_in_mpi(example, tmp_path):
    def asleep(record):
        for rank in record["ranks"]:
            rank["totals_ns"]["quiesced"] = rank["totals_ns"]["mpi"]

    run = run_of(example, tmp_path, asleep)
    assert "No rank spent more than " in summary(run).waiting
    assert " asleep in phases and " in summary(run).waiting
    parts = shares(run)
    assert parts.asleep > 0 and parts.useful + parts.omp + parts.mpi + parts.asleep + parts.gpu == pytest.approx(1)
    assert "no rank spent more than " in report(tmp_path / "changed.json")


def busy(run_delay, borrowed=0.0, cores=48, cpu=1.0):
    """Makes a real run of the example: the run delay of rank 2, how many core seconds each rank borrowed, and the CPU
    seconds of each."""

    def change(record):
        record["instrument"] = "real"
        record["nodes"][0].update(emulated=False, cores=cores)
        for rank in record["ranks"]:
            totals = rank["totals_ns"]
            totals["borrowed"] = round(borrowed * 1e9)
            rank.update(cpu=cpu, run_delay=0.1)
        record["ranks"][2]["run_delay"] = run_delay

    return change


def test_other_programs_on_the_cores(example, tmp_path):
    quiet = summary(run_of(example, tmp_path, busy(1.2))).notes
    notes = summary(run_of(example, tmp_path, busy(5.4))).notes
    assert notes[1:] == quiet
    assert notes[0] == (
        "A thread of rank 2 was ready to run but had no core for 44 % of the time: other programs ran there. Measure"
        " again without them."
    )
    crowded = run_of(example, tmp_path, busy(5.4, cores=16))
    assert "node 0 has 48 threads for 16 cores. Start fewer" in summary(crowded).notes[0]


@pytest.mark.parametrize("options, said", [
    ({"wait": "sleep"}, "Ranks that waited in MPI left their cores to threads that had none."),
    ({"wait": "sleep", "blocktime": "0"},
     "Ranks that waited in MPI, and idle threads, left their cores to threads that had none."),
    ({"wait": "poll", "blocktime": "0"}, ""),
    ({"wait": "sleep", "observe": "on"}, ""),
])
def test_more_threads_than_cores(example, tmp_path, options, said):
    def crowded(record):
        record["nodes"][0].update(nothing_moved="more threads than cores", oversubscribed="threads")
        record["decisions"] = []
        record["options"].update(options)

    moved = summary(run_of(example, tmp_path, crowded)).moved
    assert moved.startswith("No cores moved: more threads than cores.")
    assert ("left their cores" in moved, said in moved) == (bool(said), True)


IDLE = "Idle threads left their cores to threads that had none."


@pytest.mark.parametrize("blocktime, said", [("0", IDLE), ("", "")])
def test_more_threads_than_cores_without_waits(example, tmp_path, blocktime, said):
    def crowded(record):
        record["nodes"][0].update(nothing_moved="more threads than cores", oversubscribed="threads")
        record["decisions"] = []
        record["options"].update({"wait": "sleep", "blocktime": blocktime})
        for rank in record["ranks"]:
            rank["totals_ns"]["mpi"] = 0

    moved = summary(run_of(example, tmp_path, crowded)).moved
    assert said in moved and ("left their cores" in moved) == bool(said)


def test_the_cause_of_a_run_delay(example, tmp_path):
    def told(record):
        busy(5.4, cores=16)(record)
        record["nodes"][0]["nothing_moved"] = "more threads than cores: 8 ranks with 48 threads in all share 16 cores"
        record["nodes"][0]["oversubscribed"] = "threads"

    assert summary(run_of(example, tmp_path, told)).notes[0].endswith(" of the time: more threads than cores.")

    def throttled(record):
        busy(5.4)(record)
        record["ranks"][3]["throttled"] = 240.0

    assert "(cgroup) throttled node 0 for 240 core s. Start" in summary(run_of(example, tmp_path, throttled)).notes[0]
    full = run_of(example, tmp_path, busy(5.4, cpu=6 * 12.3))
    assert "the ranks of node 0 used all of its cores themselves. Start fewer" in summary(full).notes[0]


def test_a_core_that_others_use_while_its_rank_waits_is_not_missing(example, tmp_path):
    def change(record):
        busy(5.4, borrowed=1.0)(record)
        record["ranks"][2]["totals_ns"]["lent"] = lent = round(4e9 * record["ranks"][2]["threads_at_start"])
        record["ranks"][0]["totals_ns"]["borrowed"] = lent

    without, lent = (summary(run_of(example, tmp_path, how)).notes for how in (busy(5.4, borrowed=1.0), change))
    assert lent == without[1:]


def test_run_delays_of_lending_are_expected(example, tmp_path):
    """The owner of a core wakes up while the borrower runs there: no other program ran there."""
    alone = summary(run_of(example, tmp_path, busy(2.5))).notes
    assert alone[0].startswith("A thread of rank 2 was ready to run but had no core for 20 % of the time")
    assert len(summary(run_of(example, tmp_path, busy(2.5, borrowed=1.0))).notes) == len(alone) - 1
    disturbed = summary(run_of(example, tmp_path, busy(5.4, borrowed=1.0))).notes
    assert disturbed[0].startswith("A thread of rank 2 was ready to run but had no core for 44 % of the time")


def test_the_gain_of_lending_is_estimated(example, tmp_path):
    def helped(own, borrowing):
        """Seconds that the regions of rank 1 would have taken, and have taken."""

        def change(record):
            record.update(decisions=[], wall=8.0)
            for rank in record["ranks"]:
                least = 10**8 if own else 0
                rank["totals_ns"].update(borrowed=10**9, borrowing_own=least, borrowing_wall=least)
            totals = record["ranks"][1]["totals_ns"]
            totals.update(borrowing_own=round(own * 1e9), borrowing_wall=round(borrowing * 1e9))

        return summary(run_of(example, tmp_path, change)).helped

    took = "estimated. With borrowed cores, regions of rank 1 took 4.00 s instead of"
    assert helped(6, 4) == f"Lending: about 20 % less time, {took} 6.00 s."
    assert helped(3.2, 4) == f"Lending: no gain, {took} 3.20 s."
    assert helped(4.03, 4).startswith("Lending: under 1 % less time, estimated.")
    assert helped(4, 4.03).startswith("Lending: no gain, estimated.")
    assert "not known: to measure it" in helped(0, 0)


def test_shares_add_up(example):
    parts = shares(steelyard.load(example))
    assert parts.useful + parts.omp + parts.mpi == pytest.approx(1)


def test_gain_within_noise_is_none(example, tmp_path):
    wide = {"phase_after_low": 0.0278, "phase_after_high": 0.0678}
    found = summary(run_of(example, tmp_path, lambda r: r["nodes"][0].update(wide)))
    assert "no statistically significant effect" in found.headline and found.helped.startswith(
        "No statistically significant change"
    )


def test_a_loss_is_said(example, tmp_path):
    found = summary(run_of(example, tmp_path, lambda r: r["nodes"][0].update(phase_after=0.07)))
    assert "more time" in found.headline and found.helped.startswith("No: ")


def test_undone_moves(example, tmp_path):
    run = run_of(example, tmp_path, lambda r: r["decisions"][1].update(outcome="undone", measured_gain=0.01))
    found = summary(run)
    assert "reverted" in found.headline and "22.1 % was forecast" in found.helped
    assert gains(run) == []


def test_nothing_moved(example, tmp_path):
    def stayed(record):
        record["decisions"] = []
        record["nodes"][0]["nothing_moved"] = "the ranks are balanced"

    found = summary(run_of(example, tmp_path, stayed))
    assert found.moved.startswith("No cores moved: the ranks are balanced.")


@pytest.mark.parametrize(
    ("borrowed", "used"),
    [(0, "no rank used them."), (1_000_000, "less than 0.005 core s of that were used by other ranks.")],
)
def test_lent_cores_that_were_used_for_a_moment(example, tmp_path, borrowed, used):
    def lend(record):
        for rank in record["ranks"]:
            rank["totals_ns"].update(lent=1_000_000_000, borrowed=0)
        record["ranks"][0]["totals_ns"]["borrowed"] = borrowed

    assert used in summary(run_of(example, tmp_path, lend)).moved


def test_nothing_at_all(example, tmp_path):
    def empty(record):
        record["ranks"], record["nodes"], record["decisions"], record["loops"] = [], [], [], []

    assert "nothing was measured" in summary(run_of(example, tmp_path, empty)).headline


def report(*words):
    """The output of `steelyard report`."""
    program = Path(os.environ.get("STEELYARD_BUILD", "/nowhere")) / "bin/steelyard"
    if not program.exists():
        pytest.skip("STEELYARD_BUILD does not name a build with the command steelyard")
    return subprocess.run([program, "report", *words], capture_output=True, text=True, check=True).stdout


def test_thresholds_of_older_records_are_those_of_the_command(example):
    """The schema repeats the defaults of src/observe/thresholds.h."""
    old = steelyard.load(example)
    assert "thresholds" not in old.record
    assert json.loads(report("--json", example))["thresholds"] == old.thresholds


def test_thresholds_of_the_record_hold(example, tmp_path):
    strict = {**steelyard.load(example).thresholds, "mpi_share": 0.9}
    found = summary(run_of(example, tmp_path, lambda record: record.update(thresholds=strict)))
    assert "No rank spent more than 90 % of its time in MPI." in found.waiting
    assert "no rank spent more than 90 % of its time in MPI" in report(tmp_path / "changed.json")
    with pytest.raises(steelyard.InvalidRecord, match="thresholds"):
        run_of(example, tmp_path, lambda record: record.update(thresholds={"mpi_share": 0.9}))


@pytest.fixture
def terminal():
    """What the C++ summary says of a record, a paragraph a line."""

    def said(record):
        text = report(record)
        return re.sub(r"\n {12}", " ", text)

    return said


def test_figures_are_those_of_the_terminal(example, terminal):
    """Each number in the C++ summary's `gain`, `moved` and `waiting` lines is in the sentences, too."""
    said = terminal(example)
    found = summary(steelyard.load(example))
    ours = set(re.findall(r"\d+(?:\.\d+)?", f"{found.waiting} {found.moved} {found.helped}"))
    for label in ("waiting", "gain", "lent"):
        (line,) = re.findall(rf"^  {label} +(.*)$", said, re.MULTILINE)
        assert set(re.findall(r"\d+(?:\.\d+)?", line)) <= ours, line


@pytest.mark.parametrize(
    "change",
    [
        lambda record: None,
        lambda record: record.update(remarks=["the first", "the second"]),
        fixed("alone"),
        fixed("alone", remark="the program was left alone"),
        fixed("alone", remark="ranks 1-3: alone: its thread count was not changed"),
        fixed("alone", remark="rank 1: alone: its thread count was not changed"),
        busy(0),
        busy(1.2),
        busy(1.3),
        busy(5.4),
        busy(5.4, cores=16),
        busy(5.4, cpu=6 * 12.3),
        busy(2.5, borrowed=0.07),
        busy(2.5, borrowed=0.08),
        busy(5.4, borrowed=1.0),
    ],
)
def test_notes_are_those_of_the_terminal(change, example, terminal, tmp_path):
    run = run_of(example, tmp_path, change)
    said = re.findall(r"^  (?:WARNING|note) +(.*)$", terminal(tmp_path / "changed.json"), re.MULTILINE)
    as_there = [note.replace(". Measure", "; measure").replace(". Start", "; start").replace("–", "-")
                for note in summary(run).notes]
    assert [note[:1].lower() + note[1:].rstrip(".") for note in as_there] == said


@pytest.mark.parametrize(
    "value, said",
    [
        (0, "0 s"),
        (2e-7, "0.20 µs"),
        (0.0612, "61.2 ms"),
        (0.9996, "1.00 s"),
        (59.94, "59.9 s"),
        (725, "12 min 5 s"),
        (10920, "3 h 2 min"),
    ],
)
def test_durations(value, said):
    assert words.duration(value) == said


def test_lists():
    assert words.numbered("rank", [3]) == "rank 3"
    assert words.numbered("rank", [0, 2, 5, 6, 7]) == "ranks 0, 2, 5–7"
    assert words.numbered("rank", list(range(0, 40, 2)), 2) == "ranks 0, 2, … (20 in all)"
    assert words.percent(-0.0001) == "0 %" and words.percent(0.2187, 1) == "21.9 %"

# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import json
import random

import numpy as np
import pytest

import steelyard
import synthetic
from steelyard import compare, compare_page
from test_page import Strict


def load(record, path):
    path.write_text(json.dumps(record))
    return steelyard.load(path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same program twice, and one whose last quarter of ranks computes 30 % longer."""
    folder = tmp_path_factory.mktemp("runs")
    a = synthetic.record(8, 400, packed=False, seed=5, drift=0.0)
    b = _varied(a, 1)
    c = _varied(a, 2)
    for rank in c["ranks"][6:]:
        for sample in rank["timeline"]:
            shorter = 0.5 * sample["mpi_wait"]
            sample["useful"] += shorter * sample["threads"]
            sample["mpi_wait"] -= shorter
    c["nodes"][0]["phase_after"] *= 1.1
    return [load(record, folder / f"{name}.json") for name, record in zip("abc", (a, b, c))]


def _varied(record, seed):
    record, noise = json.loads(json.dumps(record)), random.Random(seed)
    for rank in record["ranks"]:
        for sample in rank["timeline"]:
            change = min(sample["mpi_wait"], max(-sample["useful"] / sample["threads"], noise.gauss(0, 0.0005)))
            sample["useful"] += change * sample["threads"]
            sample["mpi_wait"] -= change
    return record


def test_a_run_is_like_itself_and_like_its_twin(runs):
    for other in runs[:2]:
        found = compare.compare(runs[0], other)
        assert found.headline == "No statistically significant difference."
        assert {difference.result for difference in found.settled} == {"not significant"}
        assert found.ranks == [] and found.ranks_alike == 8 and found.warnings == []


def test_the_level_is_that_of_the_runs(runs, tmp_path):
    """The bounds of the step time come from the record, so they have its level."""
    surer = []
    for name, run in zip("ac", (runs[0], runs[2])):
        surer.append(load({**run.record, "options": {**run.record["options"], "confidence": "0.99"}}, tmp_path / name))
    usual, found = compare.compare(runs[0], runs[2]), compare.compare(*surer)
    assert (usual.confidence, found.confidence) == (0.95, 0.99)
    assert "(99 % CI " in found.headline and "95 % CI" not in found.headline
    assert found.settled[1].noise > 1.2 * usual.settled[1].noise, "shares: from the samples, at the same level"
    assert found.ranks[0].noise > usual.ranks[0].noise
    page = Strict(compare_page.html(*surer, ("a", "c")))
    assert "99 % confidence interval" in page.text.replace("\u00a0", " ")
    assert compare.compare(runs[0], surer[1]).confidence == 0.95, "the lower one holds for both"


def test_what_differs_is_found(runs):
    found = compare.compare(runs[0], runs[2])
    assert found.headline.startswith("A step takes 10.0 % more time in the second run (95 % CI ")
    results = {difference.name: difference.result for difference in found.settled}
    assert results["step time"] == "more"
    assert {difference.name for difference in found.ranks} <= {"rank 6", "rank 7"} and found.ranks
    assert all(difference.result == "less" for difference in found.ranks)


def test_the_other_way_round_is_the_opposite(runs):
    there, back = (compare.compare(*pair) for pair in ((runs[0], runs[2]), (runs[2], runs[0])))
    for one, other in zip(there.settled[1:], back.settled[1:]):
        assert one.change == pytest.approx(-other.change) and one.noise == pytest.approx(other.noise)


@pytest.mark.parametrize(
    "change, paired, result",
    [
        (0.0003, 0.0001, "not significant"),  # +0.0 points
        (0.0011, 0.0009, "not significant"),  # +0.1 (+0.0 to +0.2)
        (0.0030, 0.0040, "not significant"),
        (0.0030, 0.0010, "more"),
        (-0.0030, 0.0010, "less"),
    ],
)
def test_what_is_zero_as_it_is_printed_is_no_difference(change, paired, result):
    a, b = compare.Value(0.5), compare.Value(0.5 + change)
    assert compare.Difference("computing", a, b, str, paired=paired).result == result


def test_few_samples_have_no_band(example):
    run = steelyard.load(example)
    found = compare.compare(run, run)
    assert [difference.noise is None for difference in found.settled] == [False]
    assert all(difference.result == "not tested: one run each" for difference in found.whole)


def test_the_heading_speaks_of_a_move_only_if_a_core_moved(runs, monkeypatch):
    assert "\nafter the last move\n" in compare.table(compare.compare(*runs[:2]))
    for run in runs[:2]:
        monkeypatch.setitem(run.__dict__, "moves", run.moves[:0])
    text = compare.table(compare.compare(*runs[:2]))
    assert "\nsteps (no core moved)\n" in text and "last move" not in text


def test_what_is_not_of_a_kind_is_said(example, runs):
    warnings = " ".join(compare.compare(steelyard.load(example), runs[0]).warnings)
    assert "different commands" in warnings and "emulated and simulated" in warnings


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.update(ranks=[], nodes=[], decisions=[]),
        lambda r: r.update(wall=0.0, nodes=[]),
        lambda r: [rank.update(timeline=[]) for rank in r["ranks"]],
    ],
)
def test_little_can_be_compared(example, tmp_path, change):
    record = json.loads(example.read_text())
    change(record)
    little = load(record, tmp_path / "little.json")
    for pair in ((little, little), (little, steelyard.load(example)), (steelyard.load(example), little)):
        assert "nan" not in compare.table(compare.compare(*pair))
        Strict(compare_page.html(*pair, ("a", "b")))


def test_as_text_and_as_page(runs):
    text = compare.table(compare.compare(runs[0], runs[2]), ("before.json", "after.json"))
    assert "before.json" in text and "not significant" in text and "6 other ranks do not differ significantly." in text
    assert max(len(line) for line in text.splitlines()) < 140
    page = Strict(compare_page.html(runs[0], runs[2], ("before.json", "after.json")))
    assert "Which ranks wait longer or shorter in MPI?" in page.titles and "more time in the second run" in page.text
    found = compare.compare(runs[0], runs[2])
    assert compare_page._shown(found) == "6 ranks do not differ significantly."
    assert compare_page._shown(dataclasses.replace(found, ranks_alike=0)) == ""


def test_band_holds_the_mean_as_often_as_it_says():
    random = np.random.default_rng(1)
    for alike, least in ((0.0, 0.92), (0.5, 0.85)):
        held = 0
        for _ in range(1000):
            noise = random.standard_normal(20)
            for i in range(1, 20):
                noise[i] += alike * noise[i - 1]
            held += abs(noise.mean()) <= compare.band_of(noise, 0.95)
        assert held / 1000 >= least


@pytest.mark.parametrize("freedom, quantile", [(3, 3.182), (5, 2.571), (10, 2.228), (19, 2.093), (1000, 1.962)])
def test_student(freedom, quantile):
    assert compare.student(0.95, freedom) == pytest.approx(quantile, rel=0.02)


def test_progress_is_told(example, older):
    told = []
    compare.compare(steelyard.load(example), steelyard.load(older), lambda done, of: told.append((done, of)))
    assert told == [(done, 48) for done in range(1, 49)]


def test_phases_that_one_run_did_not_measure_are_not_alike(runs, tmp_path):
    record = json.loads(json.dumps(runs[2].record))
    record["options"]["observe"] = "on"
    record["wall"] *= 1.1
    for node in record["nodes"]:
        node.update(phases=0, phase_before=0.0, phase_after=0.0)
    observed = load(record, tmp_path / "observed.json")
    found = compare.compare(runs[0], observed)
    assert found.headline.startswith("The second run has more computing") and found.headline.endswith(
        " less waiting in MPI. The second took 10.0 % more wall time (one run each)."
    )
    assert "the second run has no step time, as it only observed" in found.warnings
    alike = load(json.loads(json.dumps(observed.record)) | {"wall": record["wall"] * 1.2}, tmp_path / "alike.json")
    assert compare.compare(observed, alike).headline == (
        "No statistically significant difference in the shares of time. The second took 20.0 % more wall time (one run "
        "each)."
    )
    assert compare.compare(observed, observed).headline.endswith("Both took the same wall time (one run each).")
    assert compare.compare(observed, runs[0]).warnings[-1].startswith("the first run has no step time")


@pytest.mark.parametrize(
    "first, second, crowded, told",
    [
        ({"observe": "on"}, {"blocktime": "100"}, False, "--observe=on and off"),
        ({"cores": "off"}, {"blocktime": "100"}, False, "--cores=off and on"),
        ({"observe": "on"}, {"blocktime": "0"}, True, "--observe=on and off"),
        ({"observe": "on"}, {"blocktime": "0"}, False, "--blocktime=auto and 0, --observe=on and off"),
        ({}, {"blocktime": "100"}, False, "--blocktime=auto and 100"),
        ({"blocktime": "100"}, {"blocktime": "0"}, True, "--blocktime=100 and 0"),
    ],
)
def test_defaults_are_no_different_options(runs, tmp_path, first, second, crowded, told):
    """Without a value, --blocktime depends on whether cores may move: that difference is told already."""
    loaded = []
    for options in (first, second):
        record = json.loads(json.dumps(runs[0].record))
        record["options"] = {"blocktime": "auto", "cores": "on", "observe": "off", **options}
        if crowded:
            record["nodes"][0]["cores"] = 1
        loaded.append(load(record, tmp_path / f"{len(loaded)}.json"))
    assert compare.compare(*loaded).warnings[0] == f"different options: {told}"
    swapped = compare.compare(*loaded[::-1]).warnings[0]
    assert ("blocktime" in swapped) == ("blocktime" in told)


@pytest.mark.parametrize(
    "first, second, told",
    [
        (("0", "on"), ("100", "on"), ""),
        (("auto", "on"), ("0", "on"), ""),
        (("100", "off"), ("100", "on"), ""),
        (("0", "off"), ("100", "on"), "--blocktime=0 and auto"),
        (("auto", "on"), ("100", "off"), "--blocktime=auto and 100"),
        (("0", "off"), ("100", "off"), "--blocktime=0 and 100"),
    ],
)
def test_only_options_that_the_user_set_differ(runs, tmp_path, first, second, told):
    """A record has the --blocktime in use, and whether Steelyard has chosen it."""
    loaded = []
    for blocktime, chosen in (first, second):
        record = json.loads(json.dumps(runs[0].record))
        record["options"] |= {"blocktime": blocktime, "blocktime-auto": chosen}
        loaded.append(load(record, tmp_path / f"{len(loaded)}.json"))
    assert compare.compare(*loaded).warnings == ([f"different options: {told}"] if told else [])


def test_the_page_says_which_part_is_compared(runs):
    """As the table for a terminal does."""
    unmoved = "Over the whole run, as no core moved:"
    moved = "After the last move of each run:"
    found = compare.compare(runs[0], runs[1])
    for has_moved, sentence in ((False, unmoved), (True, moved)):
        sections = compare_page._sections(dataclasses.replace(found, moved=has_moved))
        assert sections[0].text == [sentence]


def test_disturbed_runs_are_named(runs, tmp_path):
    record = json.loads(json.dumps(runs[1].record))
    record["instrument"] = "real"
    record["ranks"][0]["run_delay"] = 0.44 * 1e-9 * record["ranks"][0]["totals_ns"]["wall"]
    disturbed = load(record, tmp_path / "disturbed.json")
    why = (
        "run was disturbed: a thread of rank 0 was ready to run but had no core for 44 % of the time: other programs"
        " ran there. Measure again without them"
    )
    assert compare.compare(runs[0], disturbed).warnings[-1] == f"the second {why}"
    both = compare.compare(disturbed, disturbed)
    assert both.warnings == [f"the first {why}", f"the second {why}"]
    assert f"  note: the first {why}\n" in compare.table(both)


@pytest.mark.parametrize("alike, said", [(1, "1 other rank does not"), (2, "2 other ranks do not")])
def test_one_rank_is_one(runs, alike, said):
    found = compare.compare(runs[0], runs[2])
    text = compare.table(dataclasses.replace(found, ranks_alike=alike))
    assert said in text

# SPDX-License-Identifier: BSD-3-Clause
import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import steelyard
from steelyard import options

import synthetic


def changed(example, tmp_path, change):
    record = json.loads(example.read_text())
    change(record)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(record))
    return path


def structs(schema):
    """Every object in the schema that lists its members."""
    if isinstance(schema, dict):
        if "properties" in schema and "type" in schema:
            yield schema
        for value in schema.values():
            yield from structs(value)


def test_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(steelyard.schema())


def test_schema_is_strict_and_explains_every_member():
    found = list(structs(steelyard.schema()))
    assert len(found) == 20
    # older records lack it, or the run had none of it
    later = {"thresholds", "loops", "broadcasts", "scatters", "slurm", "tasks", "trees", "kept_regions", "regions",
             "cpu", "run_delay", "lent_by_call", "came_late", "borrowing_wall", "borrowing_own", "quiesced",
             "virtual_regions", "gpu", "gpu_capacity",
             "gpu_waits", "omp_tasks", "paused", "transport", "other_regions", "mpi_overlapped", "beyond_owned",
             "optimiser", "plans", "changes", "openmp_tool", "repeats_work", "run_delay_lending", "phases",
             "throttled", "threads_used", "oversubscribed"}
    later |= {"against", "gain", "gain_low", "gain_high", *(f"{way}_{what}" for way in ("shared", "library")
                                                            for what in ("looks", "wait", "low", "high"))}
    later |= {f"left_{why}" for why in ("threads", "boards", "first", "length", "choice", "memory", "nodes")}
    for struct in found:
        left_out = later - ({"phases"} if "phase_source" in struct["properties"] else set())  # steps of a node
        left_out |= {"lent", "gpu_wait"} if "length" in struct["properties"] else set()
        left_out -= {"regions"} if "region_wall" in struct["properties"] else set()  # their number, in totals
        assert struct["additionalProperties"] is False
        assert struct["required"] == [name for name in struct["properties"] if name not in left_out]
        for name, about in struct["properties"].items():
            assert about.get("description") or about.get("$ref"), name


def test_what_cpp_writes_is_valid(written):
    steelyard.validate(written / "rich.json")
    steelyard.validate(written / "empty.json")


def test_what_cpp_writes_has_all_members(written):
    assert list(steelyard.load(written / "rich.json").record) == list(steelyard.schema()["properties"])


def test_older_names_of_options_are_understood(older, tmp_path):
    before = {"cores": "on", "thread-numbers": "keep", "learn": "", "verdict": "off", "balance-every": "0",
              "node-ranks": "0", "timeline": "0"}
    now = {"cores": "on", "thread-ids": "keep", "loops-learn": "none", "summary": "off", "balance-every": "auto",
           "ranks-per-node": "auto",
           "timeline-samples": "0"}
    path = changed(older, tmp_path, lambda record: record.update(options=before))
    steelyard.validate(path)
    assert steelyard.load(path).record["options"] == now
    assert steelyard.load(changed(older, tmp_path, lambda record: record.update(options=now))).record["options"] == now


def test_counts_of_preemptions_in_older_records_are_left_out(example, tmp_path):
    def before(record):
        members = steelyard.schema()["$defs"]["thresholds"]["properties"]
        record["thresholds"] = {name: about["default"] for name, about in members.items() if "run_delay" not in name}
        record["thresholds"] |= {"core_share": 0.75, "preemptions": 10, "many_preemptions": 100, "mpi_share": 0.07}
        record["ranks"][3].update(cpu=1.5, preempted=3000)

    run = steelyard.load(changed(example, tmp_path, before))
    assert run.thresholds["mpi_share"] == 0.07 and run.thresholds["run_delay"] == 0.1
    assert np.isnan(run.ranks.loc[3, "run_delay"]) and "preempted" not in run.ranks


def test_options_have_the_names_that_the_command_has():
    """The names that records of older versions are read by, and those of the options table."""
    table = (Path(__file__).parents[2] / "src/base/renamed_options.h").read_text()
    assert dict(re.findall(r'RenamedOption\{"([a-z-]+)", "([a-z-]+)"\}', table)) == options._RENAMED

def test_kept_regions(written, example):
    regions = steelyard.load(written / "rich.json").kept_regions
    assert list(regions["function"]) == ["smooth", ""] and regions.loc["app+0x2c3d", "time"] == pytest.approx(7.7)
    assert steelyard.load(example).kept_regions.empty


def test_other_regions(written, example):
    regions = steelyard.load(written / "rich.json").other_regions
    assert list(regions["function"]) == ["assemble", "write_behind"] and list(regions["nested"]) == [True, False]
    assert regions.loc["app+0x4f50", ["executions", "threads"]].tolist() == [320, 2]
    assert steelyard.load(example).other_regions.empty


def test_regions(written, example):
    run = steelyard.load(written / "rich.json")
    assert list(run.regions.index) == ["solve", "output"]
    assert run.regions.loc["solve", ["wall", "ranks", "count", "gpu"]].tolist() == [pytest.approx(6.2), 8, 40, 1]
    assert list(run.regions.columns)[3:] == list(steelyard.schema()["$defs"]["metrics"]["properties"])
    first = run.region_ranks.query("region == 'solve' and rank == 0").iloc[0]
    assert first["busy"] == pytest.approx(6.1) and first["useful"] < 6 * first["busy"]
    assert len(run.region_ranks) == 9
    assert steelyard.load(example).regions.empty


def test_given_record_is_valid(given_record):
    run = steelyard.load(given_record)
    assert len(run.ranks) == sum(run.nodes["ranks"])


def test_frames(example):
    run = steelyard.load(example)
    assert run.ranks.loc[0, "threads_at_end"] == 9
    assert run.ranks.loc[6, "fixed_reason"] == "the program sets num_threads(4)"
    assert run.ranks.loc[3, "mpi"] == pytest.approx(3.5)
    assert run.ranks["busy"].max() == pytest.approx(12.2)
    assert run.ranks.loc[0, "useful"] == pytest.approx(71.004)
    assert run.ranks["mpi_calls"].dtype == "int64"
    assert run.waits.groupby("waited_for")["seconds"].sum().idxmax() == 0
    assert run.timeline[run.timeline["rank"] == 7]["useful"].sum() == pytest.approx(62.75)
    assert list(run.decisions["outcome"]) == ["declined", "confirmed"]
    assert run.loops.loc["app+0x1a2b", "strategy"] == "steal"
    assert run.nodes.loc[0, "topology"] == "2 packages x 24 cores"
    assert run.metrics["parallel"] == pytest.approx(run.metrics["mpi"] * run.metrics["openmp"])
    assert run.record["mpi"] == "Open MPI 4.1.4"


def test_trees_and_what_a_notebook_shows_of_a_run(example, tmp_path):
    run = steelyard.load(changed(example, tmp_path, lambda r: r.update(trees=[{"first": [0, 2, 4], "last": [0, 4, 2]},
                                                                              {"first": [1], "last": []}])))
    assert run.trees.values.tolist() == [[0, 0, 0, 0], [0, 1, 2, 4], [0, 2, 4, 2], [1, 0, 1, -1]]
    assert list(run.trees) == ["tree", "position", "first",
                               "last"] and list(steelyard.load(example).trees) == list(run.trees)
    assert repr(run) == "<Run of ./miniFE.x nx=264 ny=256: 8 ranks on 1 node, 12.3 s>"


def test_tasks_of_earlier_versions_are_read(example, tmp_path):
    record = json.loads(example.read_text())
    record["tasks"] = [synthetic._tasks(rank, np.random.default_rng(rank)) for rank in range(3)]
    new, old = tmp_path / "new.json", tmp_path / "old.json"
    new.write_text(json.dumps(record))
    text = json.dumps(record["tasks"])
    for name, before in {"stolen_local": "stolen_here", "stolen_remote": "stolen_far", "busy_seconds": "busy",
                         "run_seconds": "inside"}.items():
        assert f'"{name}"' in text
        text = text.replace(f'"{name}"', f'"{before}"')
    old.write_text(json.dumps(record | {"tasks": json.loads(text)}))
    pd.testing.assert_frame_equal(steelyard.load(old).tasks, steelyard.load(new).tasks)


def test_a_run_with_nothing_in_it_has_typed_empty_frames(example, tmp_path):
    def empty(record):
        record["ranks"], record["nodes"], record["decisions"] = [], [], []
        del record["loops"]  # as in records before there were any

    run = steelyard.load(changed(example, tmp_path, empty))
    full = steelyard.load(example)
    for name in ("ranks", "waits", "timeline", "decisions", "loops", "kept_regions", "other_regions", "regions",
                 "region_ranks", "nodes", "trees"):
        frame = getattr(run, name)
        assert len(frame) == 0
        assert list(frame.columns) == list(getattr(full, name).columns)
        assert list(frame.dtypes) == list(getattr(full, name).dtypes), name


@pytest.mark.parametrize(
    "change, place",
    [
        (lambda r: r["ranks"][3]["totals_ns"].update(mpi="many"), "ranks[3].totals_ns.mpi: 'many'"),
        (lambda r: r["ranks"][3]["totals_ns"].update(mpi=-1), "ranks[3].totals_ns.mpi: -1"),
        (lambda r: r["ranks"][0].update(more=1), "ranks[0]: Additional properties"),
        (lambda r: r["ranks"][0].pop("pid"), "ranks[0]: 'pid' is a required"),
        (lambda r: r["ranks"][0].update(waited_for={"x": 1.0}), "ranks[0].waited_for: 'x'"),
        (lambda r: r["ranks"][0].update(waited_for={"1": "x"}), "ranks[0].waited_for.1: 'x'"),
        (lambda r: r["metrics"].update(mpi=1.01), "metrics.mpi: 1.01"),
        (lambda r: r["decisions"][1].update(outcome="great"), "decisions[1].outcome: 'great'"),
        (lambda r: r.update(schema=3), "schema: this version of Steelyard reads 1 to 2, found 3"),
        (lambda r: r.update(started="yesterday"), "started: 'yesterday'"),
        (lambda r: r.update(instrument=""), "instrument: ''"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(example, tmp_path, change, place):
    with pytest.raises(steelyard.InvalidRecord) as error:
        steelyard.validate(changed(example, tmp_path, change))
    assert place in str(error.value)
    assert len(error.value.problems) == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"\xff\xfe", b"[" * 100_000])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(steelyard.InvalidRecord, match="cannot read the run record .*other.json"):
        steelyard.load(path)


def test_no_record_is_told_in_one_line(tmp_path):
    for content, said in (("", "the file is empty"), ("{}", "schema: missing")):
        path = tmp_path / "other.json"
        path.write_text(content)
        with pytest.raises(steelyard.InvalidRecord, match=said) as error:
            steelyard.load(path)
        assert len(error.value.problems) == 1
        assert str(error.value).endswith("\n  name a file that `steelyard run` wrote, or repeat the run")
    path.write_text('{"schema": 9}')
    with pytest.raises(steelyard.InvalidRecord, match="reads 1 to 2, found 9\n  read it with the version of Steelyard"):
        steelyard.load(path)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        steelyard.load(tmp_path / "nothing.json")


def test_half_widths_of_schema_1_are_bounds(older, tmp_path):
    nodes = steelyard.load(older).nodes
    assert nodes.loc[0, "phase_before_low"] == pytest.approx(0.061)
    assert nodes.loc[0, "phase_before_high"] == pytest.approx(0.0614)

    def wide(record):
        record["decisions"][1]["measured_noise"] = 0.3
        record["ranks"][0]["broadcasts"] = {
            **dict.fromkeys(("calls", "shared", "tree", "library", "late", "behind"), 1),
            "shared_looks": 1, "library_looks": 1,
            "shared_wait": 2.0, "shared_noise": 0.5, "library_wait": 3.0, "library_noise": 1.0}

    run = steelyard.load(changed(older, tmp_path, wide))
    moved = run.decisions.iloc[1]
    assert moved["measured_low"] == pytest.approx(-0.081) and moved["measured_high"] == pytest.approx(0.519)
    assert moved["outcome"] == "undecided", "its interval contains zero"
    assert tuple(run.collectives.loc[0, ["shared_low", "shared_high", "library_low", "library_high"]]) == (
        1.5, 2.5, 2.0, 4.0)
    assert run.record["schema"] == 2 and run.confidence == 0.95

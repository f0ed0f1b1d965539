# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import json

import numpy as np
import pytest

import steelyard
import synthetic
from steelyard import samples


@pytest.fixture
def columns():
    record = synthetic.record(3, 40, packed=False)
    return samples.unpack(record["ranks"][1]["timeline"])


def test_packed_is_the_same(columns):
    again = samples.unpack(synthetic.pack(columns))
    assert len(again) == 40
    for name in samples.KEYS:
        assert np.allclose(getattr(again, name), getattr(columns, name), rtol=1e-6, atol=1e-4), name


def test_what_is_rare_is_left_out_where_there_is_none(columns):
    assert not set(samples.RARE) & set(synthetic.pack(columns))
    some = dataclasses.replace(columns, lent=columns.mpi_wait * 2, quiesced=columns.mpi_wait / 2,
                               gpu_wait=columns.useful / 8)
    again = samples.unpack(synthetic.pack(some))
    assert np.allclose(again.lent, some.lent) and np.allclose(again.quiesced, some.quiesced)
    assert np.allclose(again.gpu_wait, some.gpu_wait)
    assert (again.gpu_wait_share <= 1 - again.mpi_share).all() and (again.omp_share <= columns.omp_share).all()
    assert (again.lent_share + again.quiesced_share <= again.mpi_share + 1e-12).all()


def test_nothing_packed_is_nothing():
    nothing = samples.unpack([])
    assert len(nothing) == len(samples.unpack(synthetic.pack(nothing))) == 0


def test_most_threads(columns):
    record = synthetic.record(3, 40, packed=False)
    assert (
        samples.most_threads(record["ranks"][1]["timeline"])
        == samples.most_threads(synthetic.pack(columns))
        == columns.threads.max()
    )
    assert samples.most_threads([]) == samples.most_threads(synthetic.pack(samples.unpack([]))) == 0


@pytest.mark.parametrize("most", [1, 2, 7, 39, 40, 1000])
def test_merged_sums_are_what_they_were(columns, most):
    merged = samples.merge(columns, most)
    assert len(merged) <= max(1, most)
    assert merged.start[0] == columns.start[0] and merged.end[-1] == columns.end[-1]
    for name in ("useful", "omp_wait", "mpi_wait"):
        assert getattr(merged, name).sum() == pytest.approx(getattr(columns, name).sum())


def test_shares_are_of_the_core_time():
    one = samples.unpack([{"start": 1.0, "end": 3.0, "useful": 4.5, "omp_wait": 1.5, "mpi_wait": 1.0, "threads": 6}])
    assert one.mpi_share[0] == 0.5 and one.omp_share[0] == pytest.approx(0.125)
    empty = samples.unpack([{"start": 1.0, "end": 1.0, "useful": 0, "omp_wait": 0, "mpi_wait": 0, "threads": 0}])
    assert empty.mpi_share[0] == 0 and empty.omp_share[0] == 0


def test_older_records_are_read(older, example):
    old, new = steelyard.load(older), steelyard.load(example)
    assert (
        "loops" not in old.record and len(old.loops) == len(old.tasks) == len(old.collectives) == len(old.scatters) == 0
    )
    assert old.ranks.equals(new.ranks) and old.timeline.equals(new.timeline)


def test_tasks_and_collectives_as_frames(written):
    run = steelyard.load(written / "rich.json")
    for frame, members in ((run.tasks, "tasks"), (run.collectives, "broadcasts"), (run.scatters, "broadcasts")):
        assert len(frame) > 0 and frame.index.name == "rank"
        assert set(frame.columns) == set(steelyard.schema()["$defs"][members]["properties"]) - {"rank"}


def test_ways_of_phases_as_a_frame(written):
    ways = steelyard.load(written / "rich.json").phases
    assert ways.phase.tolist() == [0, 0] and ways.best.tolist() == [False, True] and ways.sharing.tolist() == [4, 4]
    assert ways.gain_high.fillna(-1).tolist() == [0.2, -1] and ways.total.tolist() == [1.2, 1.2]


def test_ranks_are_told_while_they_are_read(example):
    told = []
    steelyard.load(example, lambda done, of: told.append((done, of)))
    assert told == [(done, 16) for done in range(1, 17)], "each is read, and then checked"


def test_long_columns_are_cut_out_and_put_back(tmp_path):
    record = synthetic.record(2, 3000)
    record["command"] = ['a "samples" of {', "\\", '"samples"', "\0" + "0"]
    columns = record["ranks"][1]["timeline"]
    columns["lent"] = columns["mpi_wait"]
    path = tmp_path / "run.json"
    for text in (json.dumps(record), json.dumps(record, indent=1), json.dumps(record).replace("/", "\\/")):
        path.write_text(text)
        run = steelyard.load(path)
        assert run.record == record
        (_, first), (_, second) = run.samples()
        assert len(first) == 3000 and not first.lent.any() and np.allclose(second.lent, second.mpi_wait)
    text = json.dumps(record)
    path.write_text(text[: len(text) // 2])
    with pytest.raises(steelyard.InvalidRecord, match="not JSON, or cut off"):
        steelyard.load(path)
    wrong = json.dumps(record).replace('"rank": 1,', '"rank": 1,,', 1)
    path.write_text(wrong)
    place = wrong.index(",,") + 1
    with pytest.raises(steelyard.InvalidRecord, match=rf"\(char {place}"):  # in the file, not in what was left of it
        steelyard.load(path)

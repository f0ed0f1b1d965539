# SPDX-License-Identifier: BSD-3-Clause
import base64
import dataclasses
import json
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

import steelyard
import synthetic
from steelyard import canvas, page, samples, sections

VOID = {"meta", "br", "link", "img", "input"}


class Strict(HTMLParser):
    """Fails where tags do not match; keeps text, titles and scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.titles, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            assert not (name in ("src", "href") and value and not value.startswith("data:")), "something from elsewhere"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.titles.append(data)
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data.replace("\u00a0", " ")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "run.json"
    path.write_text(json.dumps(synthetic.record(100, 60)))
    return steelyard.load(path)


def test_page_of_the_example(example):
    text = page.html(steelyard.load(example))
    assert len(text) < 200_000
    found = Strict(text)
    assert all(title.endswith("?") for title in found.titles), "each section answers a question"
    for words in (
        "21.9 % (95 % CI 21.5 to 22.3 %) less time",
        "Emulated: ",
        "./miniFE.x nx=264",
        "num_threads(4)",
        "app+0x1a2b",
        "integer optimum",
    ):
        assert words in found.text, words
    assert "://" not in text, "no address"


def test_page_of_every_kind_of_section(large):
    found = Strict(page.html(large))
    for words in (
        "Where did the tasks that each rank executed come from?",
        "Which ranks were late to broadcasts?",
        "How were the iterations of each loop divided?",
        "Simulated: ",
        "tasks were spawned",
        "How many processes and threads worked in each phase?",
        "2 of 8",
    ):
        assert words in found.text, words


def with_decisions(run, count, **members):
    """The run, with its last decision `count` times."""
    record = json.loads(json.dumps(run.record))
    last = {**record["decisions"][-1], **members}
    record["decisions"] = [{**last, "time": (i + 1) * 1e-3, "forecast_gain": 0.3 - i * 1e-4} for i in range(count)]
    return record


def test_declined_plans_push_no_move_out(example, tmp_path):
    record = with_decisions(steelyard.load(example), 300, outcome="declined", why="declined plan")
    last = {**record["decisions"][-1], "forecast_gain": 0.01}
    record["decisions"] += [
        {**last, "time": 9.0, "outcome": "confirmed", "why": "small move"},
        {**last, "time": 9.5, "outcome": "undone", "why": "small undo"},
    ]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(record))
    text = Strict(page.html(steelyard.load(path))).text
    assert text.count("declined plan") == 254 + 1 and "small move" in text and "small undo" in text
    assert "256 of 302 decisions are shown: all moves first" in text
    assert "reverted" in text and "undone" not in text


@pytest.mark.parametrize("moves, said", [(0, ""), (200, " Dashed lines mark moves of cores."),
                                         (201, "at most 200 of the 201 moves")])
def test_dashed_lines_are_promised_where_they_are_drawn(example, tmp_path, moves, said):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(with_decisions(steelyard.load(example), moves)))
    text = Strict(page.html(steelyard.load(path))).text
    assert said in text and ("Dashed lines" in text) == (moves > 0) and ("zoom in until" in text) == (moves > 200)


@pytest.mark.parametrize("kept, said", [(None, ""), (60, ""), (59, "about 2 steps; 30 samples"),
                                        (8, "about 8 steps; 8 samples")])
def test_what_a_sample_is(tmp_path, kept, said):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(synthetic.record(2, 60, kept)))
    text = Strict(page.html(steelyard.load(path))).text
    assert said in text and ("--timeline-samples=N" in text) == bool(said)


def test_what_a_record_says_cannot_break_out(example, tmp_path):
    evil = "</script><script>alert(1)</script><b>&amp;\"'"
    record = json.loads(example.read_text())
    record["command"], record["remarks"], record["nodes"][0]["host"] = [evil], [evil], evil
    record["loops"][0]["site"] = record["decisions"][0]["why"] = record["ranks"][6]["fixed_reason"] = evil
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(record))
    text = page.html(steelyard.load(path))
    assert "<b>" not in text and text.count("<script") == page.html(steelyard.load(example)).count("<script")
    assert Strict(text).text.count(evil) >= 5


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.update(ranks=[], nodes=[], decisions=[], loops=[]),
        lambda r: [rank.update(timeline=[], waited_for={}) for rank in r["ranks"]],
        lambda r: r.update(wall=0.0),
        lambda r: r.update(ranks=r["ranks"][:1]),
        lambda r: [rank["totals_ns"].update({name: 0 for name in rank["totals_ns"]}) for rank in r["ranks"]],
        lambda r: r["ranks"][0]["timeline"][0].update(threads=0, end=0.0),
    ],
)
def test_pages_of_little(example, tmp_path, change):
    record = json.loads(example.read_text())
    change(record)
    path = tmp_path / "little.json"
    path.write_text(json.dumps(record))
    text = page.html(steelyard.load(path))
    Strict(text)
    assert "nan" not in re.sub(r"<script.*?</script>", "", text, flags=re.S).lower().replace("finance", "")


def test_no_option_is_recommended_that_is_on(example, tmp_path):
    record = json.loads(example.read_text())
    for rank in record["ranks"]:
        rank.pop("broadcasts", None)
    for option, advice in (("auto", False), ("on", False), ("off", True)):
        record["options"]["collectives"] = option
        (tmp_path / "record.json").write_text(json.dumps(record))
        items = sections.absent(steelyard.load(tmp_path / "record.json")).items
        (item,) = [item for item in items if item.startswith("No broadcasts:")]
        assert ("use --collectives=auto" in item) == advice


def test_what_is_missing_is_said(older):
    (about,) = [section for section in sections.sections(steelyard.load(older)) if section.name == "absent"]
    assert any(item.startswith("No loops") for item in about.items) and any(
        item.startswith("No tasks") for item in about.items
    )


def unzigzag(planes, count):
    numbers = sum(plane.astype(np.int64) << (8 * i) for i, plane in enumerate(planes.reshape(count, -1)))
    return np.where(numbers & 1, -((numbers >> 1) + 1), numbers >> 1)


def decoded(found):
    """The columns in the blocks of a canvas, as assets/timeline.js reads them."""
    head, row = found.head, 0
    for block, count in zip(found.blocks, head["blocks"]):
        data = np.frombuffer(zlib.decompress(base64.b64decode(block)), dtype=np.uint8)
        lengths = head["samples"][row : row + count]
        n = sum(lengths)
        many, few = map(int, data[:2])
        ends = unzigzag(data[2 : 2 + many * n], many)
        mpi, omp = data[2 + many * n :][:n], data[2 + (many + 1) * n :][:n]
        threads = unzigzag(data[2 + (many + 2) * n :], few)
        at, before = 0, []
        for length in lengths:
            end = []
            for i in range(length):
                end.append(ends[at + i] + (before[i] if i < len(before) else end[-1] if end else 0))
            yield np.array(end), mpi[at : at + length], omp[at : at + length], np.cumsum(threads[at : at + length])
            at, before = at + length, end
        row += count


def test_the_canvas_holds_the_timeline(large):
    found = canvas.canvas(large)
    for (end, mpi, omp, threads), (_, kept) in zip(decoded(found), large.samples()):
        assert np.abs(end * found.head["tick"] - kept.end).max() <= found.head["tick"]
        assert np.abs(mpi / 255 - kept.mpi_share).max() < 0.003 and np.abs(omp / 255 - kept.omp_share).max() < 0.003
        assert (threads == kept.threads).all()


def test_the_canvas_holds_what_is_rare(tmp_path):
    record = synthetic.record(3, 50)
    kept = samples.unpack(record["ranks"][1]["timeline"])
    lent = dataclasses.replace(kept, lent=kept.mpi_wait * kept.threads / 2, quiesced=kept.mpi_wait / 4,
                               gpu_wait=kept.end - kept.start)
    record["ranks"][1]["timeline"] = synthetic.pack(lent)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(record))
    found = canvas.canvas(steelyard.load(path))
    assert found.head["rare"] == ["lent", "quiesced", "gpu_wait"]
    data = np.frombuffer(zlib.decompress(base64.b64decode(found.blocks[0])), dtype=np.uint8)
    many, few = map(int, data[:2])
    mpi = data[2 + many * 150 :][50:100] / 255
    rare = data[2 + (many + 2 + few) * 150 :].reshape(3, 3, 50) / 255
    assert np.abs(rare[0, 1] - kept.mpi_share / 2).max() < 0.003
    assert np.abs(rare[1, 1] - kept.mpi_share / 4).max() < 0.003
    assert np.abs(rare[2, 1] - (1 - kept.mpi_share)).max() < 0.003, "all that is not in MPI"
    assert np.abs(mpi - kept.mpi_share / 4).max() < 0.006
    assert not rare[:, [0, 2]].any()
    text = page.html(steelyard.load(path))
    assert "waiting, with its cores lent" in text and "asleep while other ranks work" in text


def test_uneven_ranks_and_gaps(example, tmp_path):
    record = json.loads(example.read_text())
    sample = {"start": 2.0, "end": 3.0, "useful": 4.0, "omp_wait": 0.0, "mpi_wait": 0.25, "threads": 6}
    record["ranks"][1]["timeline"] = [sample, {**sample, "start": 5.0, "end": 6.0, "threads": 300}]
    record["ranks"][2]["timeline"] = []
    path = tmp_path / "uneven.json"
    path.write_text(json.dumps(record))
    found = canvas.canvas(steelyard.load(path))
    assert found.head["samples"][:3] == [2, 4, 0] and found.head["threads"] == 300
    end, _, _, threads = list(decoded(found))[1]
    assert np.allclose(end * found.head["tick"], [2, 3, 5, 6], atol=0.01) and list(threads) == [0, 6, 0, 300]


def test_blocks_are_cut(large, monkeypatch):
    monkeypatch.setattr(canvas, "BLOCK", 150)
    found = canvas.canvas(large)
    assert len(found.blocks) == 34 and sum(found.head["blocks"]) == 100
    assert [len(end) for end, *_ in decoded(found)] == [len(kept) for _, kept in large.samples()]


def test_progress_is_told(large):
    told = []
    page.html(large, lambda done, of: told.append((done, of)))
    assert told[0] == (1, 100) and told[-1] == (100, 100)

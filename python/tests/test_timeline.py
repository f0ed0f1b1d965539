# SPDX-License-Identifier: BSD-3-Clause
import json
import re
import xml.etree.ElementTree as xml

import pytest

import steelyard
from steelyard import timeline

RECTANGLE = re.compile(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-\3z")


@pytest.fixture
def pair(example, tmp_path):
    """Two runs of the example: the first only observed, nothing moved in it, and it took longer."""
    record = json.loads(example.read_text())
    record["options"]["observe"] = "on"
    record["decisions"] = []
    for rank in record["ranks"]:
        rank["threads_at_end"] = rank["threads_at_start"]
    without = tmp_path / "without.json"
    without.write_text(json.dumps(record))
    return without, example


def edited(path, tmp_path, change):
    record = json.loads(path.read_text())
    change(record)
    other = tmp_path / "edited.json"
    other.write_text(json.dumps(record))
    return other


def drawn(without, with_):
    root = xml.fromstring(timeline.draw(steelyard.load(without), steelyard.load(with_)))
    words = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    return root, words


def rectangles(root, kind):
    """By panel: x, y, width, height of each bar."""
    paths = [p.get("d") for p in root.iter("{http://www.w3.org/2000/svg}path") if p.get("class") == kind]
    for path in paths:
        assert RECTANGLE.sub("", path) == "", "something that is no bar"
    return [[tuple(map(float, bar)) for bar in RECTANGLE.findall(path)] for path in paths]


def test_says_what_it_shows(pair):
    root, words = drawn(*pair)
    assert any(w.startswith("without: waits in MPI ") for w in words)
    assert any(w.startswith("with: waits in MPI ") and "cores move at" in w for w in words)
    assert any(w.startswith("emulated, no real cores: 1 node of 2 packages x 24 cores") for w in words)
    assert words.count("rank 0") == words.count("rank 7") == 2
    assert "6 → 9 threads" in words
    moves = [p for p in root.iter("{http://www.w3.org/2000/svg}path") if p.get("class") == "move"]
    assert len(moves) == 1, "declined plans move nothing"


def test_share_of_waits_is_that_of_all_ranks(pair):
    ranks = steelyard.load(pair[1]).ranks
    share = 100 * ranks["mpi"].sum() / ranks["wall"].sum()
    assert any(f"waits in MPI {share:.0f} %" in w for w in drawn(*pair)[1])


def test_area_is_core_time(pair, tmp_path):
    def one_sample(record):
        for rank in record["ranks"]:
            rank["timeline"] = []
        sample = {"start": 1.0, "end": 3.0, "useful": 4.5, "omp_wait": 1.5, "mpi_wait": 1.0, "threads": 6}
        record["ranks"][2]["timeline"] = [sample]

    path = edited(pair[0], tmp_path, one_sample)
    root, _ = drawn(path, path)
    area = {kind: rectangles(root, kind)[0][0] for kind in timeline.KINDS}
    size = {kind: bar[2] * bar[3] for kind, bar in area.items()}
    assert size["useful"] / size["omp"] == pytest.approx(4.5 / 1.5, rel=0.03)
    assert size["mpi"] / (size["useful"] + size["omp"]) == pytest.approx(1, rel=0.03)
    assert area["mpi"][0] == pytest.approx(area["useful"][0] + area["useful"][2], abs=0.2), "MPI follows computing"


def test_everything_stays_inside_its_row(pair, tmp_path):
    def borrowed(record):
        for sample in record["ranks"][5]["timeline"]:
            sample["threads"] = 48

    root, _ = drawn(pair[0], edited(pair[1], tmp_path, borrowed))
    width, height = float(root.get("width")), float(root.get("height"))
    for kind in timeline.KINDS:
        for bars in rectangles(root, kind):
            for x, y, w, h in bars:
                assert timeline.LEFT - 0.1 <= x and x + w <= width - timeline.RIGHT + 0.2
                assert 0 < y and y + h < height and h <= 24


@pytest.mark.parametrize("ranks", [1, 100, 2000])
def test_any_number_of_ranks(pair, tmp_path, ranks):
    def multiply(record):
        one = record["ranks"][0]
        record["ranks"] = [{**one, "rank": r, "timeline": one["timeline"][:1]} for r in range(ranks)]

    path = edited(pair[0], tmp_path, multiply)
    root, words = drawn(path, path)
    assert len(rectangles(root, "useful")[0]) == ranks
    assert "rank 0" in words
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    heights = [float(t.get("y")) for t in texts if (t.text or "").startswith("rank ")]
    assert all(below - above >= 11 for above, below in zip(heights, heights[1:])), "names that overlap"


@pytest.mark.parametrize("seconds", [1e-6, 0.003, 1, 7.9, 10, 86400])
def test_ticks_are_few_and_round(seconds):
    ticks = timeline._ticks(seconds)
    assert ticks[0] == 0 and 4 <= len(ticks) <= 11 and ticks[-1] <= seconds * 1.000001


def test_what_the_program_is_called_does_no_harm(pair, tmp_path):
    path = edited(pair[0], tmp_path, lambda r: r["nodes"][0].update(topology="<&\"'>"))
    assert any("<&\"'>" in w for w in drawn(path, path)[1])


def test_options_that_differ_are_named(pair, tmp_path):
    chosen = {"blocktime": "100", "blocktime-auto": "on"}
    first = pair[0].parent / "auto.json"
    edited(pair[0], tmp_path, lambda r: r["options"].update(chosen | {"blocktime": "auto"})).rename(first)
    other = edited(pair[1], tmp_path, lambda r: r["options"].update(chosen, lending="off", record="elsewhere.json"))
    assert any(w.endswith("; with --lending=off") for w in drawn(first, other)[1])


def test_command_writes_the_same_file_twice(pair, tmp_path, capsys):
    out = tmp_path / "timeline.svg"
    assert timeline.main([str(pair[0]), str(pair[1]), "-o", str(out)]) == 0
    assert timeline.main([str(pair[0]), str(pair[1])]) == 0
    assert out.read_text(encoding="utf-8") == capsys.readouterr().out


@pytest.mark.parametrize(
    "change, complaint",
    [
        (lambda r: r["options"].update(observe="off", cores="on"),
         "cores were moved: record it with `steelyard run --observe`"),
        (lambda r: r.update(command=["./other"]), "different commands: ./other and "),
        (lambda r: r.update(instrument="real"), "one record is real, the other emulated"),
        (lambda r: [rank.update(timeline=[]) for rank in r["ranks"]], "the first record has no timeline"),
        (lambda r: r.update(schema=7), "reads 1 to 2, found 7\n  read it with the version"),
    ],
)
def test_pictures_that_would_not_be_true_are_refused(pair, tmp_path, capsys, change, complaint):
    out = tmp_path / "timeline.svg"
    assert timeline.main([str(edited(pair[0], tmp_path, change)), str(pair[1]), "-o", str(out)]) == 1
    assert complaint in capsys.readouterr().err
    assert not out.exists()


def test_a_missing_record_is_said(tmp_path, capsys):
    assert timeline.main([str(tmp_path / "no.json"), str(tmp_path / "no.json")]) == 1
    assert "no.json" in capsys.readouterr().err

import json
import re
import xml.etree.ElementTree as xml

import steelyard
from steelyard import timeline

SVG = "{http://www.w3.org/2000/svg}"


def areas(picture):
    """Painted area by colour."""
    found = {}
    for path in xml.fromstring(picture).iter(SVG + "path"):
        boxes = re.findall(r"h([\d.]+)v-([\d.]+)h", path.get("d"))
        found[path.get("fill")] = found.get(path.get("fill"), 0) + sum(float(w) * float(h) for w, h in boxes)
    return found


def test_areas_are_the_shares_of_thread_time(example):
    run = steelyard.load(example)
    painted = areas(timeline.svg([run], ["before"]))
    (_, _, useful), (_, _, omp), (_, _, mpi) = timeline.KINDS
    assert painted[useful] > 10 * painted[omp] > 0
    assert painted[mpi] > 0


def test_titles_are_escaped_and_every_record_is_drawn(example):
    run = steelyard.load(example)
    texts = [t for t in xml.fromstring(timeline.svg([run, run], ["a <b> & c", "d"])).itertext()]
    assert "a <b> & c" in texts
    assert texts.count("rank 7") == 2
    assert any("12.3 s, parallel efficiency 76 % (emulated)" in t for t in texts)


def test_thousands_of_ranks_stay_a_picture(example, tmp_path):
    record = json.loads(example.read_text())
    record["ranks"] = [dict(record["ranks"][i % 8], rank=i) for i in range(4096)]
    path = tmp_path / "many.json"
    path.write_text(json.dumps(record))
    root = xml.fromstring(timeline.svg([steelyard.load(path)], ["many"]))
    assert float(root.get("height")) < 500
    assert any("one of 43 ranks is shown" in t for t in root.itertext())


def test_nothing_to_draw_is_an_empty_picture(example, tmp_path):
    record = json.loads(example.read_text())
    record.update(ranks=[], wall=0)
    path = tmp_path / "empty.json"
    path.write_text(json.dumps(record))
    xml.fromstring(timeline.svg([steelyard.load(path)], ["empty"]))


def test_command_line(example, tmp_path, capsys):
    out = tmp_path / "out.svg"
    assert timeline.main([str(example), str(example), "-t", "without", "-o", str(out)]) == 0
    texts = list(xml.fromstring(out.read_text()).itertext())
    assert "without" in texts and "example" in texts
    assert timeline.main([str(tmp_path / "no.json"), "-o", str(out)]) == 1
    assert "no.json" in capsys.readouterr().err

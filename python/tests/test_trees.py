# SPDX-License-Identifier: BSD-3-Clause
"""Trees of broadcasts: what is told of them, in the words of the terminal, and how they are drawn."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import steelyard
import synthetic
from steelyard import page, tree_chart, trees, summary
from test_page import Strict


def late_run(tmp_path, found, late, ranks=44):
    """A run with these trees as (first, last), in which the ranks of `late` are late that often of 98 times, by s in
    all."""
    record = synthetic.record(ranks, 3)
    for rank in record["ranks"]:
        count, behind = late.get(rank["rank"], (0, 0.0))
        rank["broadcasts"].update(late=count, behind=behind)
        rank["node"] = rank["rank"] // 2
    record["trees"] = [{"first": [*first], "last": [*last]} for first, last in found]
    path = tmp_path / "trees.json"
    path.write_text(json.dumps(record))
    return steelyard.load(path)


EVEN = range(0, 16, 2)
CASES = [
    ([(EVEN, [0, 2, 4, 6, 10, 12, 14, 8])], {8: (60, 0.6)},
     ["tree of 8 nodes: rank 8 was late by 10.0 ms; it delayed 3 ranks at first, none at last"]),
    ([(EVEN, EVEN)], {4: (60, 0.6), 8: (60, 0.6)},
     ["tree of 8 nodes: ranks 4, 8 were late, rank 4 most, by 10.0 ms; they delayed 4 ranks at first, 4 at last"]),
    ([(EVEN, EVEN)], {8: (60, 0.6), 12: (60, 0.6)},
     ["tree of 8 nodes: ranks 8, 12 were late, rank 8 most, by 10.0 ms; they delayed 2 ranks at first, 2 at last"]),
    ([(EVEN, [0, 2, 5, *EVEN[3:]])], {4: (60, 0.6)},
     ["tree of 8 nodes: rank 4 was late by 10.0 ms; it delayed 1 rank at first, none at last; rank 5 leads its node "
      "instead of rank 4"]),
    ([(EVEN, [0, 2, 4, 6, 10, 12, 14, 8])],
     {**{r: (60, 0.006 + 1e-5 * r) for r in EVEN[1:]}, 8: (60, 0.6), 14: (60, 0.3)},
     [
        "tree of 8 nodes: ranks 2, 4, 6, 8, 10, 12, … (7 in all) were late, rank 8 most, by 10.0 ms; they delayed 2 "
        "ranks at first, none at last",
    ]),
    ([([0, 2, 4, 6], [6, 2, 4, 0])], {0: (60, 0.6), 6: (60, 0.6)},
     ["tree of 4 nodes: rank 0 was late by 10.0 ms; it delayed no rank at first, none at last"]),
    ([([0, 2, 4, 6], [7, 2, 4, 0])], {0: (60, 0.6), 6: (60, 0.6)},
     ["tree of 4 nodes: rank 0 was late by 10.0 ms; it delayed no rank at first, none at last"]),
    ([(EVEN, EVEN)], {8: (24, 0.6)}, ["1 tree: no rank was late to 25 % of its broadcasts, and no rank moved"]),
    ([(EVEN, EVEN)], {8: (25, 0.6)},
     ["tree of 8 nodes: rank 8 was late by 24.0 ms; it delayed 3 ranks at first, 3 at last"]),
    ([([0, 2, 4], [0, 4, 2])], {},
     ["tree of 3 nodes: its order changed, but no rank was late to 25 % of its broadcasts"]),
    ([([0, 40], [0, 40])] * 4 + [([0, 2], [0, 2]), (EVEN, EVEN)], {8: (60, 0.6), 40: (60, 0.6)}, [
        "tree of 8 nodes: rank 8 was late by 10.0 ms; it delayed 3 ranks at first, 3 at last",
        *["tree of 2 nodes: rank 40 was late by 10.0 ms; it delayed no rank at first, none at last"] * 3,
        "1 more tree with late ranks or another order",
        "1 tree: no rank was late to 25 % of its broadcasts, and no rank moved",
    ]),
    ([([], []), ([0, 2], []), ([], [0, 2]), ([98, 98, 97], [4, 4]), ([2], [3, 99])], {r: (90, 0.9) for r in range(44)},
     None),
]  # fmt: skip


@pytest.mark.parametrize("found, late, said", CASES)
def test_what_is_told(tmp_path, found, late, said):
    run = late_run(tmp_path, found, late)
    told = trees.told(trees.trees(run), run.thresholds)
    assert said is None or told == said
    text = Strict(page.html(run)).text
    for sentence in told:
        assert sentence[1:] in text
    build = os.environ.get("STEELYARD_BUILD")
    if build:
        words = [Path(build) / "bin" / "steelyard", "report", "--full", str(tmp_path / "trees.json")]
        full = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        broadcasts = re.search(r"\nBroadcasts\n((?:  .*\n)+)", full).group(1)
        # The terminal breaks lines, and has neither dashes nor blanks in its numbers.
        plain = lambda text: re.sub(
            r"\s", "", text.replace("–", "-").replace("…", "...").replace("µ", "u")
        )  # noqa: E731
        assert plain(broadcasts) == plain("".join(told))


def test_how_a_binomial_tree_hands_on():
    for size in (1, 2, 3, 5, 8, 13, 64, 100):
        below = [0] * size
        for position in reversed(range(1, size)):
            below[trees.parent(position)] += below[position] + 1
        assert below == [trees.behind(position, size) for position in range(size)]


def pills(svg):
    """What is drawn: rank, its path to the root, middle, left, right, top."""
    found = re.findall(r'data-rank="(\d+)" data-path="([\d ]+)".*?x="([-\d.]+)" y="(\d+)" width="([\d.]+)"', svg)
    return [(int(r), [*map(int, p.split())], float(x), float(x) + float(w), int(y)) for r, p, x, y, w in found]


@pytest.mark.parametrize("size", [2, 3, 7, 8, 31, 64, 65, 257, 4096])
@pytest.mark.parametrize("step", [1, 28])
def test_every_tree_is_drawn_within_its_width(size, step):
    order = range(0, size * step, step)
    late = {order[place]: 1e-3 / place for place in (size // 2, size // 4, size // 3, size - 1) if place > 0}
    last = [rank for rank in order if rank not in late] + [rank for rank in order if rank in late]
    tree = trees.Tree(order, last, late, {}, 2)
    for svg in tree_chart.charts(tree, 1.0):
        assert len(svg) < 60_000
        width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
        drawn = pills(svg)
        assert width <= tree_chart.WIDTH + 1 and height < 700
        assert {rank for rank, *_ in drawn} >= {*late, 0}
        for rank, path, left, right, top in drawn:
            assert left >= 0 and right <= width and top < height
            for other, _, start, end, row in drawn:
                assert other == rank or row != top or end < left or start > right, "nothing lies upon anything"
            assert path[0] == rank and path[-1] == order[0]
        hidden = sum(int(count.replace("\u202f", "")) for count in re.findall(r">\+([\d\u202f]+)<", svg))
        assert len(drawn) + hidden == size, "no rank is missing"
        if tree_chart.is_whole(tree):
            assert hidden == 0 and "between" not in svg


def test_of_a_large_tree_those_that_hold_up_most_are_drawn():
    """However little they are late."""
    late = {**{rank: 1.0 for rank in range(1, 200, 2)}, 512: 1e-4, 768: 1e-4}
    tree = trees.Tree(range(1024), [*range(512), *range(513, 1024), 512], late, {}, 2)
    first, last = ({rank for rank, *_ in pills(svg)} for svg in tree_chart.charts(tree, 1.0))
    assert {512, 513, 768, 769} <= first == last and 8 < len(first) < 14
    assert sorted(first & set(late))[:-2] == [1, 3, 5, 7]


def test_paths_are_those_of_the_tree():
    tree = trees.Tree(range(8), [0, 1, 2, 3, 5, 6, 7, 4], {4: 0.01}, {}, 2)
    first, last = (dict((rank, path) for rank, path, *_ in pills(svg)) for svg in tree_chart.charts(tree, 1.0))
    assert first[7] == [7, 6, 4, 0] and first[5] == [5, 4, 0]
    assert last[4] == [4, 7, 5, 0] and last[5] == [5, 0]


def test_who_hands_on_to_more_or_fewer_is_marked():
    tree = trees.Tree(range(8), [0, 1, 2, 3, 6, 5, 4, 7], {4: 0.01}, {}, 2)
    for svg in tree_chart.charts(tree, 1.0):
        marked = re.findall(r'data-rank="(\d+)"(?:(?!</g>).)* moved"', svg)
        assert sorted(marked) == ["4", "6"], "the two that changed places"


def test_shades_are_those_of_the_legend(tmp_path):
    late = [9e-3, 6e-3, 2.9e-3, 0.9e-3]
    assert [tree_chart.shade(by, 9e-3) for by in (None, 1e-6, *late)] == [0, 0, 3, 2, 1, 1]
    assert tree_chart.shades([*late, 1e-6])[0] == ("late0", "in time, or less than 900 µs late")
    words = ["in time", "up to 3.00 ms late", "up to 6.00 ms late", "up to 9.00 ms late"]
    assert tree_chart.shades(late) == [(f"late{n}", word) for n, word in enumerate(words)]
    assert tree_chart.shades([]) == [("late0", "in time")] and tree_chart.shade(0.0, 0.0) == 1
    # One legend for all trees of the page.
    text = page.html(late_run(tmp_path, [(EVEN, EVEN), ([0, 40], [0, 40])], {8: (60, 0.12), 40: (60, 0.6)}))
    colours = dict(re.findall(r'data-rank="(8|40)".*?rect class="(late\d)', text))
    assert colours == {"8": "late1", "40": "late3"} and "up to 10.0 ms late" in text and "up to 3.33 ms late" in text


def test_the_page_answers_its_question(tmp_path):
    changed = (EVEN, [0, 2, 4, 6, 10, 12, 14, 8])
    for found, late, said, drawn in [
        ([changed], {8: (60, 0.6)}, "Yes. Tree of 8", 2),
        ([(EVEN, EVEN)], {8: (60, 0.6)}, "No. Tree of 8", 1),
        ([(EVEN, EVEN)], {14: (60, 0.6)}, "They delayed no rank from the start. Tree of 8", 1),
        ([(EVEN, [0, 4, 8, 10, 2, 12, 14, 6])], {4: (60, 0.6), 8: (60, 0.6)}, "In part. Tree of 8", 2),
        ([(EVEN, EVEN)], {}, "1 tree: no rank was late", 0),
    ]:
        text = page.html(late_run(tmp_path, found, late))
        read = Strict(text)
        assert "Did the late ranks become leaves?" in read.titles and said in read.text
        assert text.count('<svg class="tree"') == drawn


def test_the_headline_says_that_late_ranks_moved(tmp_path):
    for last, said in [([0, 2, 4, 6, 10, 12, 14, 8], True), (EVEN, False)]:
        run = late_run(tmp_path, [(EVEN, last)], {8: (60, 0.6)})
        run.record["decisions"].clear()
        run.record["tasks"].clear()
        assert ("late ranks were moved out of the way of broadcasts" in summary.summary(run).headline) is said


def test_runs_without_trees_say_why(tmp_path):
    text = Strict(page.html(late_run(tmp_path, [], {}))).text
    assert "No broadcast trees: no communicator spans nodes" in text

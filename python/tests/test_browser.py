# SPDX-License-Identifier: BSD-3-Clause
"""The page in Chromium: what is clicked, zoomed and sorted does what it should, in silence and without network."""

import json
import re

import numpy as np
import pytest

import steelyard
import synthetic
from browser import Unavailable, browser
from steelyard import compare_page, page

RANKS, STEPS = 40, 120


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    try:
        with browser(tmp_path_factory.mktemp("profile")) as found:
            yield found
    except Unavailable as why:
        pytest.skip(str(why))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.json"
    record = synthetic.record(RANKS, STEPS)
    record["ranks"][4]["broadcasts"].update(late=60, behind=0.6)
    record["trees"] = [{"first": [*range(8)], "last": [0, 1, 2, 3, 5, 6, 7, 4]}]
    path.write_text(json.dumps(record))
    return steelyard.load(path)


@pytest.fixture(scope="module")
def written(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page.html(run), encoding="utf-8")
    return path


@pytest.fixture
def opened(chromium, written):
    chromium.said.clear()
    chromium.asked.clear()
    chromium.open(written)
    chromium.evaluate("localStorage.clear()")
    chromium.open(written)
    chromium.evaluate("steelyard.reading.then(() => steelyard.draw())")
    yield chromium
    assert chromium.said == [] and chromium.asked == []


def view(opened):
    return opened.evaluate("(({t0, t1, r0, r1}) => [t0, t1, r0, r1])(steelyard.view)")


def pixel(opened, chart, x, y):
    """Red, green, blue at a place of the plot, in fractions of it."""
    return opened.evaluate(
        f"(() => {{ steelyard.draw(); const c = steelyard.charts[{chart}], i = c.image, w = i.width;"
        f" const at = 4 * (Math.floor({y} * i.height) * w + Math.floor({x} * w));"
        " return [...i.data.slice(at, at + 3)]; })()"
    )


def test_the_page_has_the_samples_of_the_record(opened, run):
    for rank, samples in list(run.samples())[:: RANKS // 4]:
        ends, mpi, threads = opened.evaluate(
            f"(s => {{ const a = s.first[{rank}], b = s.first[{rank} + 1];"
            " return [[...s.end.slice(a, b)], [...s.mpi.slice(a, b)], [...s.threads.slice(a, b)]]; "
            "})(steelyard.samples)"
        )
        tick = opened.evaluate("steelyard.samples.head.tick")
        assert np.abs(np.array(ends) * tick - samples.end).max() <= tick
        assert np.abs(np.array(mpi) / 255 - samples.mpi_share).max() < 0.003
        assert threads == samples.threads.tolist()


@pytest.mark.parametrize("zoomed", [False, True])
def test_colours_are_shares(opened, run, zoomed):
    """Over the whole run and zoomed in, the mean colour of a row is that of what its rank did there."""
    rank, (first, last) = 7, (0.25, 0.35) if zoomed else (0.0, 1.0)
    opened.evaluate(f"steelyard.view.set({first}, {last}, {rank}, {rank + 1})")
    mean = opened.evaluate(
        "(() => { steelyard.draw(); const i = steelyard.charts[0].image, d = i.data, n = i.width; const s = [0, 0, 0];"
        " const y = 4 * n * Math.floor(i.height / 2); for (let x = 0; x < n; ++x) for (let k = 0; k < 3; ++k) s[k] += "
        "d[y + 4 * x + k] / n; return s; })()"
    )
    samples = dict(run.samples())[rank]
    end = run.record["wall"]
    length = np.clip(np.minimum(samples.end, last * end) - np.maximum(samples.start, first * end), 0, None)
    mpi, omp = ((length * share).sum() / length.sum() for share in (samples.mpi_share, samples.omp_share))
    colours = {"useful": (0x2F, 0x7F, 0xC1), "omp": (0xDF, 0x9C, 0x10), "mpi": (0xEF, 0xC4, 0xB4)}
    expected = sum(
        share * np.array(colours[kind]) for kind, share in (("useful", 1 - mpi - omp), ("omp", omp), ("mpi", mpi))
    )
    assert np.abs(np.array(mean) - expected).max() < 4


def test_buttons_zoom(opened):
    assert opened.evaluate("document.querySelector('[data-zoom=whole]').disabled")
    opened.click("[data-zoom=in]")
    opened.wait("Math.abs(steelyard.view.t1 - steelyard.view.t0 - 0.5) < 1e-9")
    opened.click("[data-zoom=ranks]")
    opened.click("[data-zoom=step]")
    opened.wait(f"steelyard.view.t1 - steelyard.view.t0 < 3 / {STEPS}")
    t0, t1, r0, r1 = view(opened)
    assert 1 / STEPS / 3 < t1 - t0 and r1 - r0 == RANKS / 2
    opened.wait("!document.querySelector('[data-zoom=whole]').disabled")  # by the next frame
    opened.click("[data-zoom=whole]")
    opened.wait("steelyard.view.t1 === 1 && steelyard.view.t0 === 0")


def test_moves_are_drawn_where_they_are_few(opened):
    """However many there are in the whole run: those of the stretch and the ranks that are seen."""
    opened.evaluate(
        "(c => { c.moves = Array.from({length: 300}, (_, i) => ({time: (i + 0.5) / 300 * c.samples.head.end,"
        " first: i % 2, last: i % 2})); })(steelyard.charts[0])"
    )

    def drawn(*stretch):
        opened.evaluate(f"steelyard.view.set({', '.join(map(str, stretch))})")
        return opened.evaluate("(steelyard.draw(), steelyard.charts[0].movesInView()"
                               ".map(move => Math.floor(move.time / steelyard.samples.head.end * 300)))")

    assert drawn(0, 1, 0, RANKS) == []
    assert drawn(0.5, 1, 0, RANKS) == list(range(150, 300))
    assert drawn(0, 1, 1, 2) == list(range(1, 300, 2))
    assert drawn(0, 1, 2, RANKS) == []


def test_wheel_drag_keys_and_tip(opened):
    opened.wheel("canvas", -200)  # scrolls the page: the picture was not clicked
    assert view(opened)[:2] == [0, 1]
    x, y, width, _ = opened.middle("canvas")
    opened.click("canvas")
    opened.wheel("canvas", -200)
    opened.wait("steelyard.view.t1 - steelyard.view.t0 < 0.9")
    before = view(opened)
    opened.mouse("mousePressed", x, y, button="left", clickCount=1)
    opened.mouse("mouseMoved", x - width / 4, y, button="left", buttons=1)
    opened.mouse("mouseReleased", x - width / 4, y, button="left", clickCount=1)
    opened.wait(f"steelyard.view.t0 > {before[0]} + 0.01")
    words = opened.evaluate("document.getElementById('tip').textContent")
    assert words.startswith("rank ") and "computing" in words and "threads" in words
    opened.evaluate(
        "document.querySelector('canvas').dispatchEvent(new KeyboardEvent('keydown', {key: '0', bubbles: true}))"
    )
    assert view(opened) == [0, 1, 0, RANKS]


def test_theme_button_changes_page_and_pictures(opened):
    light, paper = pixel(opened, 0, 0.5, 0.4), opened.evaluate("getComputedStyle(document.body).backgroundColor")
    opened.click("#theme")
    opened.click("#theme")
    assert opened.evaluate("document.documentElement.dataset.theme") == "dark"
    assert (
        pixel(opened, 0, 0.5, 0.4) != light
        and opened.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    )
    opened.open(opened.path)
    assert opened.evaluate("document.documentElement.dataset.theme") == "dark", "it is remembered"


def test_system_colours_and_paper(opened, tmp_path):
    opened.open(opened.path, dark=True)
    dark = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, dark[4:-1].split(","))) < 150
    opened.pdf(tmp_path / "page.pdf")
    paper = (tmp_path / "page.pdf").read_bytes()
    pages = len(re.findall(rb"/Type\s*/Page\b", paper))
    opened.call("Emulation.setEmulatedMedia", media="print")
    # Chromium repeats the head of a table on each page only where nothing in it is a box of its own.
    assert opened.evaluate("getComputedStyle(document.querySelector('th button')).display") == "contents"
    opened.call("Emulation.setEmulatedMedia", media="")
    assert paper.startswith(b"%PDF") and 4 <= pages <= 20, f"{pages} pages for {RANKS} ranks in tables and charts"
    opened.wait("document.documentElement.dataset.theme === 'auto'")


def test_tables_sort(opened):
    def column(number):
        return opened.evaluate(
            f"[...document.querySelectorAll('#ranks tbody tr')].map(r => Number(r.cells[{number}].dataset.value))"
        )

    assert column(0) == list(range(RANKS))
    opened.click("#ranks th:nth-child(9) button")
    assert column(8) == sorted(column(8), reverse=True) and column(0) != list(range(RANKS))
    opened.click("#ranks th:nth-child(9) button")
    assert column(8) == sorted(column(8))
    assert opened.evaluate("document.querySelector('#ranks th:nth-child(9)').getAttribute('aria-sort')") == "ascending"


def test_the_way_to_a_rank_is_shown_in_both_trees(opened):
    def shown():
        return opened.evaluate(
            "[...document.querySelectorAll('.pictures svg')].map(svg => [...svg.querySelectorAll('.node')]"
            ".filter(node => node.querySelector('.on')).map(node => Number(node.dataset.rank)))"
        )

    assert shown() == [[], []]
    x, y, *_ = opened.middle(".pictures figure:last-child [data-rank='4']")
    opened.mouse("mouseMoved", x, y)
    assert shown() == [[0, 4], [0, 5, 7, 4]]
    assert opened.evaluate("document.querySelectorAll('.pictures .edge.on').length") == 1 + 3
    opened.mouse("mouseMoved", x, y + 100)
    assert shown() == [[], []]
    opened.click(".pictures [data-rank='3']")
    assert shown() == [[0, 2, 3]] * 2


def test_narrow_window(opened):
    opened.open(opened.path, width=420)
    opened.evaluate("steelyard.reading")
    assert opened.evaluate("document.documentElement.scrollWidth") <= 420, "nothing sticks out"
    right = "[...document.querySelectorAll('.bars rect')].map(bar => bar.getBoundingClientRect().right)"
    assert 150 < opened.evaluate(f"Math.max(...{right})") <= 420, "bars can be compared without scrolling"


def test_bars_fit_each_width(opened):
    for width, least in ((400, 100), (800, 400), (1600, 550)):
        opened.open(opened.path, width=width)
        left, right, axis = opened.evaluate(
            "(() => { const chart = document.querySelector('.bars'), place = chart.getBoundingClientRect(); return"
            " [place.left, place.right, Math.max(...[...chart.querySelectorAll('rect')].map("
            "bar => bar.getBoundingClientRect().right))]; })()"
        )
        assert least <= right - left <= 580 and axis <= right + 1, width


def test_values_with_bounds_are_not_cut(chromium, run, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(compare_page.html(run, run, ("a", "b")), encoding="utf-8")
    for width in (800, 1280):
        chromium.open(path, width=width)
        assert chromium.evaluate("document.querySelectorAll('.bars text').length") > 0
        right = "[...document.querySelectorAll('.bars text')].map(text => text.getBoundingClientRect().right)"
        assert chromium.evaluate(f"Math.max(...{right})") <= width


def test_tables_are_not_cut(chromium, example, tmp_path):
    record = json.loads(example.read_text())
    loop = record["loops"][0]
    compared = {"strategy": "steal", "against": "even", "gain": 0.123, "gain_low": 0.1, "gain_high": 0.15}
    why = "left to the OpenMP runtime: OMP_SCHEDULE or omp_set_schedule asks for static parts"
    record["loops"] = [loop | compared | {"site": "hydrodynamics.openmpi.gcc+0x1a2b", "why": why}]
    (tmp_path / "run.json").write_text(json.dumps(record))
    path = tmp_path / "page.html"
    path.write_text(page.html(steelyard.load(tmp_path / "run.json")), encoding="utf-8")
    for width in (1400, 1000):
        chromium.open(path, width=width)
        cut = chromium.evaluate(
            "[...document.querySelectorAll('.table')].filter(table => table.scrollWidth > table.clientWidth)"
            ".map(table => table.closest('section').id)"
        )
        assert cut == [], width


def test_other_pages_are_silent(chromium, example, older, tmp_path):
    chromium.said.clear()
    for number, text in enumerate(
        [
            page.html(steelyard.load(older)),
            compare_page.html(steelyard.load(example), steelyard.load(older), ("a", "b")),
        ]
    ):
        path = tmp_path / f"{number}.html"
        path.write_text(text, encoding="utf-8")
        chromium.open(path)
    assert chromium.said == [] and chromium.asked == []

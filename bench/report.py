# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the report: how long records of 4,096 ranks x 10,000 steps take to load and to draw, and at how
many frames a second their page is looked at in Chromium. See `--help`."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

from harness import TREE, Failed, Figure, Measurement, Session, Target, arguments, figure, measure, report

sys.path[:0] = [str(TREE / "python"), str(TREE / "python/tests")]
import browser  # noqa: E402
import steelyard  # noqa: E402
from steelyard import page  # noqa: E402

RANKS, STEPS, KEPT = 4096, 10000, 2048  # the last is the default of --timeline-samples


def made(session: Session, name: str, *words: str) -> Path:
    """A synthetic record, made once."""
    ranks, steps = (64, 500) if session.quick else (RANKS, STEPS)
    path = session.out / f"report-{name}-{ranks}x{steps}.json"
    if not path.exists():
        command = [
            sys.executable,
            str(TREE / "python/tests/synthetic.py"),
            f"--ranks={ranks}",
            f"--steps={steps}",
            *words,
            "-o",
            str(path),
        ]
        if subprocess.run(command).returncode != 0:
            raise Failed(f"no record: {' '.join(command)}")
    return path


def loads(name: str, *words: str) -> Callable[[Session], list[Figure]]:
    """All timelines in columns, each in a fresh interpreter."""

    def measured(session: Session) -> list[Figure]:
        record = made(session, name, *words)
        script = (
            "import sys, time; t = time.perf_counter(); import steelyard; run = steelyard.load(sys.argv[1]); "
            "n = sum(len(s) for _, s in run.samples()); print(time.perf_counter() - t, n, time.process_time())"
        )
        seconds, busy, samples = [], [], 0
        for _ in range(1 if session.quick else 3):
            done = subprocess.run(
                [sys.executable, "-c", script, str(record)], cwd=TREE / "python", capture_output=True, text=True
            )
            if done.returncode != 0:
                raise Failed(done.stderr[-500:])
            words_said = done.stdout.split()
            seconds.append(float(words_said[0]))
            samples = int(words_said[1])
            busy.append(float(words_said[2]))
        return [
            figure(
                name,
                "real",
                seconds,
                "s",
                Target("<=", 10),
                "import steelyard; steelyard.load(...)",
                {"CPU s": min(busy), "million samples": samples / 1e6, "MB": record.stat().st_size / 1e6},
            )
        ]

    return measured


# What a user does at every zoom, from the whole run to a step: pan and zoom, a frame at a time, both charts drawn.
LOOK = """(async () => {
  const t = steelyard, out = [];
  for (const span of %s) {
    const frames = [];
    t.view.set(0.4, 0.4 + span, 0, t.view.rows);
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < 40; ++i) {
      if (i %% 2) t.view.pan(0.02, 0); else t.view.zoom(i < 20 ? 0.99 : 1.01, 0.5, 0.5, true, true);
      t.redraw();
      const now = await new Promise(requestAnimationFrame); // of the frame in which it was drawn
      frames.push(now - last); last = now;
    }
    frames.sort((a, b) => a - b);
    out.push([span, frames[20], frames[37]]);
  }
  return out;
})()"""


def looked_at(session: Session) -> list[Figure]:
    record = made(session, "every-step")
    path = session.out / "report-every-step.html"
    # As the command does, in a process of its own: gigabytes that have just been given back would slow the browser
    # down.
    script = (
        "import sys; import steelyard; from steelyard import page; "
        "open(sys.argv[2], 'w', encoding='utf-8').write(page.html(steelyard.load(sys.argv[1])))"
    )
    began = time.perf_counter()
    if subprocess.run([sys.executable, "-c", script, str(record.resolve()), str(path.resolve())],
                      cwd=TREE / "python").returncode != 0:
        raise Failed("the page could not be made")
    drawn = time.perf_counter() - began
    spans = [1, 0.3, 0.1, 0.03, 0.01, 0.001, 0.0001]
    try:
        with tempfile.TemporaryDirectory() as folder, browser.browser(Path(folder)) as chromium:
            began = time.perf_counter()
            chromium.open(path)
            opened = time.perf_counter() - began
            chromium.evaluate("steelyard.reading")
            read = time.perf_counter() - began
            frames = chromium.evaluate(LOOK % json.dumps(spans))
            if chromium.said or chromium.asked:
                raise Failed(f"the page said {chromium.said} and asked for {chromium.asked}")
    except browser.Unavailable as why:
        raise Failed(str(why)) from why
    rates = {span: 1000 / middle for span, middle, _ in frames}
    slowest = min(rates.values())
    return [
        figure(
            "page-made", "real", [drawn], "s with loading", None, "steelyard report --html",
            {"MB": path.stat().st_size / 1e6}
        ),
        figure(
            "page-read", "real", [read], "s until all is drawn", Target("<=", 10), "", {"s until it is seen": opened}
        ),
        figure(
            "frames",
            "real",
            [slowest],
            "a second, slowest zoom",
            Target(">=", 20),
            "",
            {f"{100 * span:g} % of the run": rate for span, rate in rates.items()},
        ),
    ]


def small(session: Session) -> list[Figure]:
    text = page.html(steelyard.load(TREE / "python/tests/example.json"))
    return [
        figure(
            "small-page", "real", [len(text.encode()) / 1e3], "kB", Target("<=", 1000), "steelyard report --html", {}
        )
    ]


def main() -> int:
    options = arguments(__doc__, "report")
    measurements = [
        Measurement("small", 2, small),
        Measurement("load-default", 60, loads("load-default", f"--keep={KEPT}")),
        Measurement("every-step", 90, loads("every-step")),
        Measurement("page", 60, looked_at),
    ]
    return report(options, measure(options, measurements))


if __name__ == "__main__":
    sys.exit(main())

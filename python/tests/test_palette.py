# SPDX-License-Identifier: BSD-3-Clause
"""The colours of the page tell activities apart for every reader: also where red, green or blue is not seen."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from steelyard import page

# Machado, Oliveira, Fernandes (2009), at full severity, on linear RGB.
SIGHT = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def themes():
    css = (Path(page.__file__).with_name("assets") / "report.css").read_text()
    return [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block)) for block in re.findall(r"\{([^{}]*--mpi:[^{}]*)\}", css)
    ]


def test_there_are_three_blocks_of_two_themes():
    light, dark, system = themes()
    assert dark == system != light


@pytest.mark.parametrize("sight", SIGHT)
def test_activities_can_be_told_apart(sight):
    for theme in themes():
        seen = {
            name: lab(np.array(SIGHT[sight]) @ linear(theme[name])) for name in ("useful", "omp", "mpi", "lent",
                                                                                 "quiesced", "gpu_wait", "plot")
        }
        for one, other in itertools.combinations(seen, 2):
            assert np.linalg.norm(seen[one] - seen[other]) > 18, (one, other)


def test_text_can_be_read():
    for theme in themes():
        page_light = float(TO_XYZ[1] @ linear(theme["page"]))
        for name in ("ink", "quiet", "accent"):
            light = float(TO_XYZ[1] @ linear(theme[name]))
            assert (max(light, page_light) + 0.05) / (min(light, page_light) + 0.05) > 4.5, name


def test_lateness_grows_darker_or_lighter_and_its_words_can_be_read():
    for theme in themes():
        light = {name: float(TO_XYZ[1] @ linear(theme[name])) for name in ("ink", "page", "late0", "late1", "late2",
                                                                           "late3")}
        steps = [light[f"late{n}"] for n in range(4)]
        assert steps in (sorted(steps), sorted(steps, reverse=True))
        for one, other in zip(steps, steps[1:]):
            assert (max(one, other) + 0.05) / (min(one, other) + 0.05) > 1.2, "for those who see no colours at all"
        for name, words in [("late0", "ink"), ("late1", "ink"), ("late2", "ink"), ("late3", "page")]:
            assert (max(light[name], light[words]) + 0.05) / (min(light[name], light[words]) + 0.05) > 4.5, name

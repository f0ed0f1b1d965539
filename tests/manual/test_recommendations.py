# SPDX-License-Identifier: BSD-3-Clause
"""What can corrupt a program's memory is documented in one place, with what it risks, and recommended nowhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RISKY = re.compile(r"--thread-(?:ids=resize|local-data=resize)")
# Each line that names such an option: how it goes on says what it risks, or that it is on.
PLACES = {
    "docs/cores.md": [
        r"both can make a program wrong",
        r"resizes regions that query thread IDs",
        r"changes the thread counts",
    ],
    "docs/why-nothing-moved.md": [r"lets these teams grow", r"lets thread counts change"],
    "src/cli/doctor.cpp": [r"lets these teams grow", r"lets thread counts change"],
}


def lines() -> list[tuple[str, str]]:
    found = []
    for pattern in [
        "README.md",
        "docs/**/*.md",
        "docs/**/*.rst",
        "src/**/*.cpp",
        "src/**/*.h",
        "python/**/*.py",
        "include/**/*.h",
        "examples/**/*",
    ]:
        for file in sorted(ROOT.glob(pattern)):
            if file.is_file() and not file.name.endswith(("_test.cpp", "_test.py")):
                found += [
                    (str(file.relative_to(ROOT)), line)
                    for line in file.read_text(errors="replace").splitlines()
                    if RISKY.search(line)
                ]
    return found


@pytest.mark.parametrize("place", lines(), ids=str)
def test_no_recommendation_can_corrupt_memory(place):
    file, line = place
    assert any(re.search(words, line) for words in PLACES.get(file, [])), f"{file} names it without its risk: {line}"


def test_the_manual_says_what_the_options_risk():
    text = (ROOT / "docs" / "cores.md").read_text()
    section = text.split("### Options that can make a program wrong")[1].split("\n## ")[0]
    assert "past its end" in section and "threadprivate" in section

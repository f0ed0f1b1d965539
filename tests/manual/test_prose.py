# SPDX-License-Identifier: BSD-3-Clause
"""Spelling, and links inside of the repository. Links to other places: links.py."""

import re
import subprocess
import sys

import pytest

from manual import PAGES, ROOT, blocks, headings, indented

WORDS = "tests/manual/words.txt"  # right, though codespell doubts them


def test_spelling():
    paths = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "docs", "include",
             "fortran", "examples",
             "packaging", "src/base/options.cpp"]
    result = subprocess.run([sys.executable, "-m", "codespell_lib", "--ignore-words", WORDS, *paths, "--skip",
                             "*.svg,*.abi"],
                            cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"],
                         ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page):
    text = re.sub(r"^```.*?^```|`[^`\n]*`(?!\])", "", page.read_text(), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.relative_to(ROOT)} links to {target}, which is not there"
        made = re.search(r"^```\{", file.read_text(), re.M) if file.suffix == ".md" else None  # Sphinx looks at those
        if anchor and file.suffix == ".md" and not made:
            assert anchor in headings(file), f"{page.relative_to(ROOT)} links to {target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_rows_have_as_many_cells_as_their_table(page):
    """Of a row with more cells, the last ones are not shown."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.M):
        counts = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]
        wrong = [row for row, count in zip(table.splitlines(), counts) if count != counts[0]]
        assert not wrong, wrong[0]


def test_links_are_found():
    assert any("](" in page.read_text() for page in PAGES)
    assert "what-keeps-a-rank-from-growing" in headings(ROOT / "docs" / "cores.md")
    assert not headings(ROOT / "docs" / "cores.md") & {"no-such-heading"}


def test_every_block_says_what_it_is():
    for page in PAGES:
        assert not indented(page.read_text()), f"{page.relative_to(ROOT)}: a block without fences"
        for block in blocks(page):
            assert re.fullmatch(r"sh|text|c|cpp|fortran|python|cmake|\{\w+\}",
                                block.language), f"{block}: {block.language!r}"


@pytest.mark.parametrize("block", ["    steelyard report", "\tsteelyard report", "  ```sh\n  steelyard report\n  ```",
                                   "~~~sh\nsteelyard report\n~~~"])
def test_a_block_without_fences_is_noticed(block):
    fenced = "```sh\n    steelyard run ./app\n```\n"
    assert not indented(f"- a list\n  goes on\n\n{fenced}") and indented(f"{fenced}\n{block}\n")

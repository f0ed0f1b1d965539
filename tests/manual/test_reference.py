# SPDX-License-Identifier: BSD-3-Clause
"""Each public function documents its parameters, its result, and how it is called; so do the Fortran modules."""

import re
import sys

import pytest

from manual import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import api  # noqa: E402

HEADERS = sorted((ROOT / "include" / "steelyard").glob("*.h"))
MODULES = sorted((ROOT / "fortran").glob("*.f90"))


def functions(path):
    """Name, names of the parameters, whether it returns something, comment."""
    for item in api.READERS[path.suffix][0](path)[1]:
        code = " ".join(item.code)
        if path.suffix == ".h" and not code.startswith(("typedef", "#define", "enum")):
            result, name, parameters = re.match(r"(.*?)(\w+)\((.*)\);", code).groups()
            names = re.findall(r"(\w+)(?=,|$)", "" if parameters == "void" else parameters)
            yield name, names, result.strip() != "void", item.comment
        elif declared := re.search(r"(subroutine|function) (\w+)\((.*?)\)", code):
            yield declared[2], re.findall(r"\w+", declared[3]), declared[1] == "function", item.comment


def documented(comment):
    return re.findall(r"@param(?:\[out\])?\s+(\w+)", comment)


@pytest.mark.parametrize("path", [*HEADERS, *MODULES], ids=lambda path: path.name)
def test_functions_are_documented(path):
    found = list(functions(path))
    assert found
    for name, parameters, returns, comment in found:
        assert (
            documented(comment) == parameters
        ), f"{path.name}: {name} has {parameters}, and documents {documented(comment)}"
        assert ("@return" in comment) == returns, f"{path.name}: {name}: @return"
        assert (
            "@note" in comment or "_consumer" in name
        ), f"{path.name}: {name}: @note, whether it is collective, blocks, and who calls it"


@pytest.mark.parametrize("path", HEADERS, ids=lambda path: path.name)
def test_members_are_documented(path):
    for item in api.read_c(path)[1]:
        code = " ".join(item.code)
        if not re.match(r"typedef struct \w+ \{", code):
            continue
        declared = [name for names in re.findall(r"[^;{}]*?((?:\**\w+(?:\[\d+\])?,? ?)+);",
                                                 code.split("{", 1)[1].rsplit("}", 1)[0])
                    for name in [re.findall(r"\w+", re.sub(r"\[\d+\]", "", names))[-1]]]
        known = {name for names, _ in item.members for name in re.findall(r"\w+", names)}
        assert set(declared) <= known, f"{path.name}: {item.names}: {set(declared) - known}"


def test_what_is_public_is_on_the_page():
    for path in HEADERS:
        exported = set(re.findall(r"STEELYARD_API .*?\b(steelyard_\w+|omp_\w+)\(",
                                  path.read_text().split("for other languages")[0]))
        page = "\n".join(api.header_page(path))
        assert all(f"`{name}`" in page for name in exported), path.name


def test_status_codes_are_the_same_in_all_languages():
    c = dict(re.findall(r"(STEELYARD_(?:SUCCESS|INACTIVE|ERROR_\w+)) = (\d+)",
                        (ROOT / "include" / "steelyard" / "steelyard.h").read_text()))
    fortran = dict(re.findall(r"(STEELYARD_(?:SUCCESS|INACTIVE|ERROR_\w+)) = (\d+)",
                              (ROOT / "fortran" / "steelyard.f90").read_text()))
    cpp = re.findall(r"(?m)^  \w+ = (STEELYARD_\w+)", (ROOT / "include" / "steelyard" / "steelyard.hpp").read_text())
    assert c == fortran and list(c) == cpp

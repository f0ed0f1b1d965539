# SPDX-License-Identifier: BSD-3-Clause
"""steelyard.regions without `steelyard run`, and over a stand-in for the preload library."""

import subprocess
import sys
from pathlib import Path

import pytest

from steelyard import regions


class Library:
    """What is called, and what it answers."""

    def __init__(self):
        self.calls, self.status = [], 0

    def steelyard_region_begin(self, name):
        self.calls.append(("begin", name))
        return self.status

    def steelyard_region_end(self, name):
        self.calls.append(("end", name))
        return self.status

    def steelyard_pause(self):
        self.calls.append("pause")
        return self.status

    def steelyard_resume(self):
        self.calls.append("resume")
        return self.status

    def steelyard_get_efficiencies(self, figures):
        told = figures._obj
        told.ranks, told.parallel, told.gpu = 3, 0.5, 1.0
        return self.status

    def steelyard_message(self):
        return b"region 'inner' is open"


@pytest.fixture
def library(monkeypatch):
    stand_in = Library()
    monkeypatch.setattr(regions, "_library", lambda: stand_in)
    return stand_in


def test_nothing_happens_without_steelyard():
    assert regions.efficiencies() == {}
    assert regions.begin("solve") is False and regions.end("never begun") is False
    with regions.region("solve"), regions.paused():
        pass


def test_no_other_package_is_needed():
    code = "import sys; from steelyard.regions import begin; begin('a'); print({'pandas', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(Path(__file__).parents[1])}, text=True,
                          capture_output=True, check=True)
    assert done.stdout == "set()\n"


def test_a_block_and_a_function(library):
    @regions.region("écrire")
    def write():
        library.calls.append("body")

    with regions.region("solve"):
        write()
    with pytest.raises(KeyError), regions.region("fails"):
        raise KeyError
    name = "écrire".encode()
    assert library.calls == [("begin", b"solve"), ("begin", name), "body", ("end", name), ("end", b"solve"),
                             ("begin", b"fails"), ("end", b"fails")]
    assert regions.begin("x") is True


def test_a_pause(library):
    with regions.paused():
        library.calls.append("body")
    assert regions.pause() and regions.resume()
    assert library.calls == ["pause", "body", "resume", "pause", "resume"]
    library.status = 3
    with pytest.raises(regions.RegionError):
        regions.pause()


def test_efficiencies(library):
    figures = regions.efficiencies()
    assert (figures["ranks"], figures["parallel"], figures["gpu"], len(figures)) == (3, 0.5, 1.0, 11)
    library.status = 1
    assert regions.efficiencies() == {}


def test_refusals_are_errors_and_inactive_is_none(library):
    library.status = 1
    assert regions.begin("x") is False
    library.status = 3
    with pytest.raises(regions.RegionError, match="'inner' is open"):
        regions.end("outer")


@pytest.mark.parametrize("block, began, ended", [(lambda: regions.region("x"), ("begin", b"x"), ("end", b"x")),
                                                 (regions.paused, "pause", "resume")])
def test_what_never_began_does_not_end(library, block, began, ended):
    library.status = 1
    with block():  # as if the program initialised MPI in the block
        library.status = 0
    assert library.calls == [began]
    again = block()
    with again:
        library.status = 1
        with again:
            library.status = 0
    assert library.calls == [began, began, began, ended], "only the outer one began"

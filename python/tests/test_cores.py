# SPDX-License-Identifier: BSD-3-Clause
"""steelyard.cores without `steelyard run`, and over a stand-in for the preload library."""

import os
import sys

import pytest

from steelyard import cores


class Library:
    """Two cores of its own, CPUs 4 and 5; acquires CPU 7."""

    def __init__(self):
        self.cpus, self.asked, self.status, self.callback, self.returned = [4, 5], None, 0, None, False

    def steelyard_cores_init(self, number):
        self.asked = number.value
        return self.status

    def steelyard_cores_movable(self):
        return 0 if self.status else 1

    def steelyard_cores_get(self, cpus, capacity, count):
        for place in range(capacity.value if capacity else 0):
            cpus[place] = self.cpus[place]
        count._obj.value = len(self.cpus)
        return self.status

    def steelyard_cores_lend(self, number, lent):
        self.asked, lent._obj.value = number.value, 1
        return self.status

    def steelyard_cores_reclaim(self, missing):
        missing._obj.value = 2
        return self.status

    def steelyard_cores_acquire(self, number, acquired):
        self.asked, acquired._obj.value = number.value, 1
        self.cpus.append(7)
        return self.status

    def steelyard_cores_release(self):
        self.cpus.remove(7)
        return self.status

    def steelyard_cores_on_change(self, callback, data):
        self.callback = callback
        return self.status

    def steelyard_cores_poll(self):
        self.returned = False
        if self.callback:
            self.callback((cores.ctypes.c_int * 2)(*self.cpus), 2, None)
        self.returned = True
        return self.status

    def steelyard_message(self):
        return b"called inside a parallel region"


@pytest.fixture
def library(monkeypatch):
    stand_in = Library()
    monkeypatch.setattr(cores, "_library", lambda: stand_in)
    return stand_in


def test_no_core_moves_without_steelyard():
    cores.init()
    assert not cores.movable() and "steelyard run" in cores.why_not_movable()
    assert cores.get() == sorted(os.sched_getaffinity(0))
    assert (cores.lend(3), cores.reclaim(), cores.acquire(3)) == (0, 0, 0)
    cores.on_change(print)
    cores.poll()
    cores.release()


def test_numbers_and_cpus(library):
    cores.init(3)
    assert library.asked == 3 and cores.movable() and cores.why_not_movable() == ""
    assert cores.acquire(sys.maxsize) == 1 and library.asked == 2**31 - 1
    assert cores.get() == [4, 5, 7]
    cores.release()
    assert cores.get() == [4, 5]
    assert cores.lend(1) == 1 and library.asked == 1 and cores.reclaim() == 2
    with pytest.raises(TypeError):
        cores.lend("all")


def test_what_a_callback_raises_comes_out_of_poll(library):
    told = []
    cores.on_change(told.append)
    cores.poll()
    assert told == [[4, 5]]

    def fails(cpus):
        raise KeyError(cpus[0])

    cores.on_change(fails)
    with pytest.raises(KeyError, match="4"):
        cores.poll()
    assert library.returned, "cores are returned all the same"
    cores.on_change(None)
    cores.poll()
    assert told == [[4, 5]] and not library.callback


def test_refusals_are_errors(library):
    library.status = 3
    assert cores.why_not_movable() == "called inside a parallel region"
    for call in (cores.init, cores.poll, cores.get, cores.reclaim):
        with pytest.raises(cores.CoresError, match="inside a parallel region"):
            call()

# SPDX-License-Identifier: BSD-3-Clause
import collections
import itertools

import pytest

import harness


@pytest.fixture(params=harness.FLAVOURS)
def mpi(request, tmp_path):
    if request.param not in harness.LAUNCHERS:
        pytest.skip(f"{request.param} is not installed")
    return harness.Mpi(request.param, tmp_path)


def pytest_addoption(parser):
    parser.addoption("--all-combinations", action="store_true",
                     help="run a test with all combinations of its parameters, not only with each pair of values")


def pytest_configure():
    assert set(harness.LAUNCHERS) & set(harness.FLAVOURS), "no MPI was found: nothing would be tested"


def pairs(item):
    """Each two values of the test's parameters, by name."""
    values = {name: repr(value) for name, value in item.callspec.params.items()}
    return set(itertools.combinations(sorted(values.items()), 2))


def pytest_collection_modifyitems(config, items):
    """Of a test with three or more parameters, as few combinations as have each pair of values: what goes wrong with
    one MPI, one compiler and one variant goes wrong with two of these, hardly ever with all three only."""
    if config.getoption("--all-combinations"):
        return
    tests = collections.defaultdict(list)
    for item in items:
        if hasattr(item, "callspec") and len(item.callspec.params) >= 3:
            tests[item.function].append(item)
    left_out = set()
    for combinations in tests.values():
        remaining = set().union(*map(pairs, combinations))
        while remaining:
            most = max(combinations, key=lambda item: len(pairs(item) & remaining))
            remaining -= pairs(most)
            combinations.remove(most)
        left_out.update(combinations)
    items[:] = [item for item in items if item not in left_out]

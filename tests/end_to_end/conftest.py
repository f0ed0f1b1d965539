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


def values_of(item):
    """The values of a test's parameters. Names that are given values together count as one parameter."""
    together = {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        together.update((name.strip(), mark.args[0]) for name in names)
    values = collections.defaultdict(list)
    for name, value in item.callspec.params.items():
        values[str(together.get(name, name))].append(repr(value))
    return {name: tuple(several) for name, several in values.items()}


def pairs(item):
    return set(itertools.combinations(sorted(values_of(item).items()), 2))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Of a test with three or more parameters, as few combinations as have each pair of values: what goes wrong with
    one MPI, one compiler and one variant goes wrong with two of these, hardly ever with all three only."""
    if config.getoption("--all-combinations"):
        return
    tests = collections.defaultdict(list)
    for item in items:
        is_installed = hasattr(item, "callspec") and item.callspec.params.get("mpi") in (None, *harness.LAUNCHERS)
        if is_installed and len(values_of(item)) >= 3:
            tests[item.function].append(item)
    left_out = set()
    for combinations in tests.values():
        remaining = set().union(*map(pairs, combinations))
        while remaining:
            most = max(combinations, key=lambda item: len(pairs(item) & remaining))
            remaining -= pairs(most)
            combinations.remove(most)
        left_out.update(combinations)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]

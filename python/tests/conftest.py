# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess
from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--record", action="append", default=[], help="also check this run record (may be repeated)")


def pytest_generate_tests(metafunc):
    if "given_record" in metafunc.fixturenames:
        metafunc.parametrize("given_record", metafunc.config.getoption("--record"))


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Records as the C++ side writes them today: a folder with rich.json and empty.json."""
    build = os.environ.get("STEELYARD_BUILD")
    if not build:
        pytest.skip("STEELYARD_BUILD does not name a build directory")
    folder = Path(build) / "src" / "observe"
    subprocess.run([folder / "record_test", "--gtest_filter=RecordFiles.*"], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="session")
def example():
    """A record that is kept with the tests: 8 ranks on one emulated node."""
    return Path(__file__).with_name("example.json")


@pytest.fixture(scope="session")
def older():
    """The same run in the format's first form, which had no loops, tasks or broadcasts."""
    return Path(__file__).with_name("older.json")

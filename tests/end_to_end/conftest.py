# SPDX-License-Identifier: BSD-3-Clause
import pytest

import harness


@pytest.fixture(params=harness.FLAVOURS)
def mpi(request, tmp_path):
    if request.param not in harness.LAUNCHERS:
        pytest.skip(f"{request.param} is not installed")
    return harness.Mpi(request.param, tmp_path)


def pytest_configure():
    assert set(harness.LAUNCHERS) & set(harness.FLAVOURS), "no MPI was found: nothing would be tested"

# SPDX-License-Identifier: BSD-3-Clause
"""What a failure under Steelyard is compared with before it is reported."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST = 5  # runs, even where the time is over
NATIVE_MOST = 200  # runs
AGAIN_MOST, AGAIN_SECONDS = 20, 15  # runs of what has failed once under Steelyard


def is_always_right(run: Callable[[], bool], seconds: float) -> bool:
    """Repeats a native run until it is wrong, for so long: races of the libraries themselves show in 2 to 3 native runs
    of 100.

    @param run True if the run was right
    """
    return _all_right(run, seconds, NATIVE_MOST)


def fails_again(run: Callable[[], bool]) -> bool:
    """Repeats a run that has failed under Steelyard until it fails again. Rare aborts of the libraries themselves do
    not.

    @param run True if the run was right
    """
    return not _all_right(run, AGAIN_SECONDS, AGAIN_MOST)


def _all_right(run: Callable[[], bool], seconds: float, most: int) -> bool:
    end = time.monotonic() + seconds
    for number in range(most):
        if number >= LEAST and time.monotonic() > end:
            break
        if not run():
            return False
    return True

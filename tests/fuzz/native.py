"""What a failure under Steelyard is compared with before it is reported."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST, MOST = 5, 200  # runs


def is_always_right(run: Callable[[], bool], seconds: float) -> bool:
    """Repeats a native run until it is wrong, for so long: races of the libraries themselves show in 2 to 3 native runs of 100.

    @param run True if the run was right
    """
    end = time.monotonic() + seconds
    for number in range(MOST):
        if number >= LEAST and time.monotonic() > end:
            break
        if not run():
            return False
    return True

# SPDX-License-Identifier: BSD-3-Clause
"""Older records. Those of schema 1 have half widths of intervals where newer ones have bounds."""

from __future__ import annotations

from typing import Any

# The half width: the value that it belongs to, and the name of the bounds.
_HALF_WIDTHS = {
    "noise": ("forecast_gain", "forecast"),
    "measured_noise": ("measured_gain", "measured"),
    "gain_noise": ("gain", "gain"),
    "shared_noise": ("shared_wait", "shared"),
    "library_noise": ("library_wait", "library"),
    "phase_before_noise": ("phase_before", "phase_before"),
    "phase_after_noise": ("phase_after", "phase_after"),
}

# Counted preemptions, which a thread has also if it yields beside no other.
_FORMER = {"preempted", "preemptions", "many_preemptions", "core_share"}


def to_current(member: dict[str, Any]) -> None:
    """Removes members that nothing reads any more, and replaces the half widths of an object of a record. A move that
    is called confirmed although its interval contains zero becomes undecided. What is no number is left for the check
    of the record."""
    if member.get("schema") == 1:
        member["schema"] = 2
    for former in _FORMER & member.keys():
        del member[former]
    for old in _HALF_WIDTHS.keys() & member.keys():
        value, name = _HALF_WIDTHS[old]
        if not all(isinstance(member.get(one), (int, float)) for one in (old, value)):
            continue
        half = member.pop(old)
        member[f"{name}_low"], member[f"{name}_high"] = member[value] - half, member[value] + half
        if old == "measured_noise" and member.get("outcome") == "confirmed" and member["measured_low"] <= 0:
            member["outcome"] = "undecided"

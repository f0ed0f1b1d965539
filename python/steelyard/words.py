# SPDX-License-Identifier: BSD-3-Clause
"""Numbers with their units and lists of ranks, as in the summary on the terminal (src/observe/text.h)."""

from __future__ import annotations

import math
import unicodedata
from typing import Sequence


def printable(text: str) -> str:
    """`text` for a terminal: control characters become question marks, but for line ends (src/base/printable.h)."""
    return "".join("?" if unicodedata.category(c) == "Cc" and c != "\n" else c for c in text)


def percent(fraction: float, digits: int = 0) -> str:
    """0.2187 as "22 %"."""
    figure = f"{100 * fraction:.{digits}f}"
    return f"{figure.lstrip('-') if float(figure) == 0 else figure} %"


def duration(seconds: float) -> str:
    """ "61.2 ms", "3.41 s", "870 µs"; from ten minutes on "12 min 5 s", "3 h 2 min"."""
    size = abs(seconds)
    if size == 0:
        return "0 s"
    if size >= 600:
        minutes, rest = divmod(round(size), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
    unit, name = (1e-6, "µs") if size < 999.5e-6 else (1e-3, "ms") if size < 0.9995 else (1.0, "s")
    return f"{significant(seconds / unit)} {name}"


def significant(value: float) -> str:
    """Three significant digits."""
    size = abs(value)
    return f"{value:.{2 if size < 9.995 else 1 if size < 99.95 else 0}f}"


def core_time(seconds: float) -> str:
    """ "12.3 core s", "4.10 core h"."""
    for unit, name in ((3600.0, "core h"), (60.0, "core min")):
        if seconds >= 10 * unit:
            return f"{significant(seconds / unit)} {name}"
    return f"{significant(seconds)} core s"


def number(value: float) -> str:
    """A whole number with narrow spaces between thousands."""
    return f"{value:,.0f}".replace(",", "\u202f")


def plural(count: int, noun: str) -> str:
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def level(confidence: float) -> str:
    """ "95 % CI"."""
    return f"{100 * confidence:g} % CI"


def band(value: float, low: float, high: float, confidence: float) -> str:
    """ "34.1 % (95 % CI 32.0 to 36.2 %)"."""
    return f"{percent(value, 1)} ({level(confidence)} {bounds(low, high)})"


def bounds(low: float, high: float) -> str:
    """ "32.0 to 36.2 %"."""
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def excludes_zero(low: float, high: float) -> bool:
    """False too if a bound is zero as it is printed: nothing of "0.0 % (0.0 to 0.1 %)" is a gain."""
    return round(100 * low, 1) > 0 or round(100 * high, 1) < 0


def numbered(noun: str, numbers: Sequence[int], most: int = 6) -> str:
    """ "rank 3", "ranks 0–3", "ranks 0, 2, 5–7"; after `most` stretches "… (40 in all)"."""
    stretches: list[str] = []
    i = 0
    while i < len(numbers):
        last = i
        while last + 1 < len(numbers) and numbers[last + 1] == numbers[last] + 1:
            last += 1
        stretches.append(str(numbers[i]) if last == i else f"{numbers[i]}–{numbers[last]}")
        i = last + 1
    listed = ", ".join(stretches[:most])
    more = f", … ({len(numbers)} in all)" if len(stretches) > most else ""
    return f"{noun}{'' if len(numbers) == 1 else 's'} {listed}{more}"


def outcome(name: str) -> str:
    """The outcome of a decision as reports print it: the record's word, but for `undone`."""
    return "reverted" if name == "undone" else name


def counts(values: Sequence[int], most: int = 16) -> str:
    """ "6 each" where all are alike, otherwise "9, 7, 7, 6"; after `most` numbers "…" and the range of all."""
    if len(values) > 1 and min(values) == max(values):
        return f"{values[0]} each"
    listed = ", ".join(map(str, values[:most]))
    return listed if len(values) <= most else f"{listed}, … ({min(values)} to {max(values)})"


def ticks(end: float, most: int = 10) -> list[float]:
    """0, 1, 2, … up to `end` in steps of 1, 2 or 5 times a power of ten; `most` of them at most."""
    if not end > 0:
        return [0.0]
    power = 10.0 ** math.floor(math.log10(end))
    step = next(s * power for s in (0.1, 0.2, 0.5, 1, 2, 5) if end / (s * power) <= most)
    return [i * step for i in range(int(end / step + 1e-9) + 1)]

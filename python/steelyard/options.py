# SPDX-License-Identifier: BSD-3-Clause
"""Options of Steelyard as run records tell them: older records have other names and values."""

from __future__ import annotations

_RENAMED = {
    "thread-local": "thread-local-data",
    "thread-numbers": "thread-ids",
    "learn": "loops-learn",
    "replay": "loops-replay",
    "loops-static": "loops-static-percent",
    "timeline": "timeline-samples",
    "domain": "cores-domain",
    "broadcast-tree": "collectives-tree",
    "broadcast-every": "collectives-tree-every",
    "broadcast-threshold": "collectives-tree-threshold",
    "verdict": "summary",
    "node-ranks": "ranks-per-node",
}
# Options that older records say "0" or "" of where newer ones say "auto" or "none".
_AUTO = {"balance-every", "balance-at", "max-threads", "loops-chunk", "virtual-threads", "ranks-per-node"}
_NONE = {"loops-learn", "loops-replay", "emulate", "config"}


def current(options: dict[str, str]) -> dict[str, str]:
    """The options of a record of any version, by the names and values that Steelyard has for them now."""
    return {now: _value(now, value) for now, value in ((_RENAMED.get(name, name),
                                                        value) for name, value in options.items())}


def as_set(options: dict[str, str]) -> dict[str, str]:
    """The options as the user has set them: a value that Steelyard has chosen is `auto`, as far as the record tells."""
    chosen = {"blocktime": "auto"} if options.get("blocktime-auto") == "on" else {}
    return {name: value for name, value in (options | chosen).items() if name != "blocktime-auto"}


def _value(name: str, value: str) -> str:
    if name in _AUTO and value == "0":
        return "auto"
    return "none" if name in _NONE and not value else value

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check-tests.py: complains about each src/**/X_test.cpp without a source X.h, X.hpp or X.cpp beside it."""

import sys
from pathlib import Path

# Further tests of a source that has one.
OTHERS = {
    "src/api/api_tasks_progress_test.cpp",  # api_tasks.cpp, with processes in long tasks
    "src/api/api_tasks_typed_test.cpp",  # include/steelyard/tasks.hpp
    "src/cores/holding_orders_test.cpp",  # holding.cpp, in all interleavings
    "src/loops/compiled_test.cpp",  # team.cpp, with the loops of a compiler
    "src/loops/team_orders_test.cpp",  # team.cpp, in all interleavings
    "src/tasks/deque_orders_test.cpp",  # deque.cpp and heap.cpp, in all interleavings
}

root = Path(__file__).resolve().parent.parent
wrong = 0
for path in sorted((root / "src").rglob("*_test.cpp")):
    name = path.relative_to(root).as_posix()
    source = path.name[: -len("_test.cpp")]
    if name not in OTHERS and not any(path.with_name(source + suffix).exists() for suffix in (".h", ".hpp", ".cpp")):
        print(f"{name}: no source {source}.h or {source}.cpp beside it: rename the test")
        wrong += 1
if wrong:
    print(f"check-tests: {wrong} tests do not have the name of a source")
sys.exit(1 if wrong else 0)

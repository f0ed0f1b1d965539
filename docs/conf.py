# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: the pages of docs/ as a site and as man pages. `make docs` says where the build is."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import generated  # noqa: E402

project = "Steelyard"
author = "the Steelyard authors"
copyright = author
version = release = generated.version()

extensions = ["myst_parser", "generated"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4  # links to headings work as they do on a forge
nitpicky = True
smartquotes = False  # -- is an option
exclude_patterns = ["timeline.svg"]

html_theme = "furo"
html_title = f"Steelyard {version}"
html_copy_source = False
html_show_sphinx = False

_AUTHORS = [author]
man_pages = [
    ("tutorial", "steelyard-tutorial", "from native time to a measured gain", _AUTHORS, 7),
    ("why-nothing-moved", "steelyard-why", "messages about what was not done, and what to do", _AUTHORS, 7),
    ("reference/run-record", "steelyard-record", "the format of run records", _AUTHORS, 5),
    ("reference/steelyard", "steelyard.h", "calls of any program", _AUTHORS, 3),
    ("reference/phases", "steelyard_phases", "libraries with different threading share a node", _AUTHORS, 3),
    ("reference/loops", "steelyard_loops", "threads share the iterations of a loop", _AUTHORS, 3),
    ("reference/tasks", "steelyard_tasks", "tasks that run on any process", _AUTHORS, 3),
    ("reference/regions", "steelyard_regions", "figures of named parts of a program", _AUTHORS, 3),
    ("reference/collectives", "steelyard_collectives", "broadcasts that no late rank holds up", _AUTHORS, 3),
]
man_make_section_directory = True
man_show_urls = False

# SPDX-License-Identifier: BSD-3-Clause
"""The version is that of the project, which stands in CMakeLists.txt."""

import re
from pathlib import Path

from setuptools import setup

project = Path(__file__).resolve().parent.parent / "CMakeLists.txt"
setup(version=re.search(r"project\(steelyard VERSION ([0-9.]+)", project.read_text()).group(1))

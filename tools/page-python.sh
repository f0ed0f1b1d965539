#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints the PATH in which python3 has what `steelyard report --html` needs: with this project's environment, as it is,
# or with the system's Python first. Status 1 if none has.
cd "$(dirname "$0")/.." || exit 1
for places in "$PWD/.venv/bin:$PATH" "/usr/bin:$PATH"; do
  PATH=$places python3 -c 'import sys, importlib.util as util
sys.exit(not all(map(util.find_spec, ("jinja2", "jsonschema", "numpy", "pandas", "rich"))))' 2>/dev/null &&
    echo "$places" && exit
done
exit 1

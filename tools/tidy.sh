#!/bin/sh
# tidy.sh BUILD JOBS: clang-tidy over the sources of src/ that are in the build, tests excepted. Any warning is an error.
set -eu
cd "$(dirname "$0")/.."
build=$1
jobs=$2
python3 - "$build" <<'END' | xargs -P "$jobs" -n 1 clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*'
import json, os, sys
source = os.path.realpath("src") + os.sep
for entry in json.load(open(os.path.join(sys.argv[1], "compile_commands.json"))):
    file = os.path.realpath(entry["file"])
    if file.startswith(source) and file.endswith(".cpp") and not file.endswith(("_test.cpp", "_benchmark.cpp")):
        print(file)
END

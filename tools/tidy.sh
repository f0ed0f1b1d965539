#!/bin/sh
# tidy.sh BUILD JOBS: clang-tidy over the sources of src/ that are in the build, tests excepted, the latest commit's first. Any
# warning is an error.
set -eu
cd "$(dirname "$0")/.."
build=$1
jobs=$2
python3 - "$build" <<'END' | xargs -P "$jobs" -n 1 clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*'
import json, os, subprocess, sys
source = os.path.realpath("src") + os.sep
with open(os.path.join(sys.argv[1], "compile_commands.json")) as commands:
    files = {os.path.realpath(entry["file"]) for entry in json.load(commands)}
files = [f for f in files if f.startswith(source) and f.endswith(".cpp") and not f.endswith(("_test.cpp", "_benchmark.cpp"))]
age = {}
for name in subprocess.run(["git", "log", "--format=", "--name-only"], capture_output=True, text=True).stdout.split():
    age.setdefault(os.path.realpath(name), len(age))
print("\n".join(sorted(files, key=lambda f: age.get(f, -1))))
END

#!/bin/sh
# tidy.sh BUILD JOBS: clang-tidy over the sources of src/ that are in the build, tests excepted, the latest commit's first. Any
# warning is an error.
set -eu
cd "$(dirname "$0")/.."
build=$1
jobs=$2
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
python3 - "$build" "$commands" <<'END' | xargs -P "$jobs" -n 1 clang-tidy-19 -p "$commands" --quiet --warnings-as-errors='*'
import json, os, re, subprocess, sys
build, once = sys.argv[1:]
source = os.path.realpath("src") + os.sep
# A source that several targets compile is looked at once, and not as SimGrid's ranks see it: its headers draw warnings of their own.
with open(os.path.join(build, "compile_commands.json")) as commands:
    entries = {os.path.realpath(e["file"]): e for e in json.load(commands) if "/smpi/" not in e["command"]}
# Without gcc's precompiled headers, so that a source which leaves out a header is noticed.
for entry in entries.values():
    entry["command"] = re.sub(r" -Winvalid-pch| -include \S*cmake_pch\.hxx", "", entry["command"])
with open(os.path.join(once, "compile_commands.json"), "w") as commands:
    json.dump(list(entries.values()), commands)
files = [f for f in entries if f.startswith(source) and f.endswith(".cpp") and not f.endswith(("_test.cpp", "_benchmark.cpp"))]
age = {}
for name in subprocess.run(["git", "log", "--format=", "--name-only"], capture_output=True, text=True).stdout.split():
    age.setdefault(os.path.realpath(name), len(age))
print("\n".join(sorted(files, key=lambda f: age.get(f, -1))))
END

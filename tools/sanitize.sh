#!/bin/sh
# sanitize.sh PRESET JOBS [CMAKE FLAGS]: builds unit tests with the sanitizers of a preset and runs them. `address`: all of
# them; `thread`: those that start threads. A test is named after its file.
set -eu
cd "$(dirname "$0")/.."
preset=$1
jobs=$2
shift 2
case $preset in
  thread) files=$(grep -lE '#include <(thread|pthread\.h)>' $(find src -name '*_test.cpp')) ;;
  *) files=$(find src -name '*_test.cpp') ;;
esac
tests=$(printf '%s\n' "$files" | xargs -n 1 basename -s .cpp | sort)

cmake --preset "$preset" "$@"
# $tests is a list of words.
cmake --build "build-$preset" -j "$jobs" --target $tests
ctest --test-dir "build-$preset" -L unit --output-on-failure -j "$jobs" -R "^($(echo $tests | tr ' ' '|'))\$"

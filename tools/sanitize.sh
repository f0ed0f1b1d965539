#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sanitize.sh PRESET JOBS [CMAKE FLAGS]: builds unit tests with the sanitizers of a preset and runs them. `address`: all
# of them; `thread`: those that start threads. A test is named after its file.
set -eu
cd "$(dirname "$0")/.."
preset=$1
jobs=$2
shift 2
# The tests of the MPI wrappers are left out: MPI libraries leak and race by these tools' lights. So is the command
# line: it has gone when the program begins, and would take a quarter of the time.
sources() {
  find src -name '*_test.cpp' -not -name '*_mpi_test.cpp' -not -path 'src/intercept/mpi/*' -not -path 'src/cli/*'
}
case $preset in
  thread) files=$(grep -lE '#include <(thread|pthread\.h)>' $(sources)) ;;
  *) files=$(sources) ;;
esac
tests=$(printf '%s\n' "$files" | xargs -n 1 basename -s .cpp | sort)

cmake --preset "$preset" "$@"
# $tests is a list of words.
cmake --build "build-$preset" -j "$jobs" --target $tests
ctest --test-dir "build-$preset" -L unit --output-on-failure -j "$jobs" -R "^($(echo $tests | tr ' ' '|'))\$"

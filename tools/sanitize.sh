#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sanitize.sh PRESET JOBS [CMAKE FLAGS]: builds unit tests with the sanitizers of a preset and runs them. `address`: all
# of them; `thread`: those that start threads.
set -eu
cd "$(dirname "$0")/.."
preset=$1
jobs=$2
shift 2
cmake --preset "$preset" "$@"
# Name and source of each test. Programs that use MPI are not among them: MPI libraries leak and have data races.
tests=$(while read -r name source; do
  case $source in */src/*) ;; *) continue ;; esac
  [ "$preset" != thread ] || grep -qE '#include <(thread|pthread\.h)>' "$source" || continue
  echo "$name"
done <"build-$preset/unit_tests.txt")
# $tests is a list of words. Two cores have five slots of ctest: cmake/SteelyardTargets.cmake.
cmake --build "build-$preset" -j "$jobs" --target $tests
# LLVM's OpenMP runtime frees its own memory only after leaks are searched for.
echo leak:libomp.so >"build-$preset/leaks.txt"
export LSAN_OPTIONS=suppressions=$PWD/build-$preset/leaks.txt:print_suppressions=0
ctest --test-dir "build-$preset" -L unit --output-on-failure -j $(((5 * jobs + 1) / 2)) \
  -R "^($(echo $tests | tr ' ' '|'))\$"

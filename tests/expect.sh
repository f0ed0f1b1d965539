#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# expect.sh REGEX COMMAND...: the command must end with status 0 and its output must match. (ctest checks one or the
# other.)
pattern=$1
shift
output=$("$@" 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" -eq 0 ] || { echo "expected status 0, got $status"; exit 1; }
printf '%s\n' "$output" | grep -Eq -- "$pattern" || { echo "expected output matching: $pattern"; exit 1; }

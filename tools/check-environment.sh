#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The environment is read in one place, for the option table and for the launcher that hands it on; and by tests.
cd "$(dirname "$0")/.."
stray=$(grep -nrE '\b(getenv|secure_getenv|environ)\b' src include --include='*.h' --include='*.hpp' --include='*.c' \
    --include='*.cpp' |
  grep -vE '^src/(base/(options|environment)|cli/launcher)[^/]*:|^src/[^:]*_test\.cpp:')
[ -z "$stray" ] || {
  printf '%s\n' "$stray"
  echo "check-environment: the lines above read the environment: make it an option (src/base/options.h) instead"
  exit 1
}

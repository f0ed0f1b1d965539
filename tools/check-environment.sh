#!/bin/sh
# The environment is read in two places: the option table, and the launcher that hands it to the program.
cd "$(dirname "$0")/.."
stray=$(grep -nrE '\b(getenv|secure_getenv|environ)\b' src include --include='*.h' --include='*.hpp' --include='*.c' --include='*.cpp' |
  grep -vE '^src/(base/options|cli/launcher)[^/]*:')
[ -z "$stray" ] || {
  printf '%s\n' "$stray"
  echo "check-environment: the lines above read the environment: make it an option in src/base/options instead"
  exit 1
}

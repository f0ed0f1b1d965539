#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Shows what `make format` would change.
cd "$(dirname "$0")/.."
wrong=$(tools/sources.sh | xargs -P "$(nproc)" -n 40 clang-format-19 --dry-run 2>&1 |
  sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: .*/\1/p' | sort -u)
[ -z "$wrong" ] || {
  for file in $wrong; do
    clang-format-19 "$file" | diff -u --label "$file" --label "$file, formatted" "$file" -
  done | head -n 100
  echo "check-format: these files would be changed by \`make format\`:"
  printf '  %s\n' $wrong
  exit 1
}

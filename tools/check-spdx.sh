#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The first line of each source, or the second below a #! line, names the licence in SPDX's way.
cd "$(dirname "$0")/.."
missing=$(tools/sources.sh all | while read -r file; do
  head -n 2 "$file" | grep -Eq '^(//|/\*|#|!|\{#-?) SPDX-License-Identifier: BSD-3-Clause( \*/| -?#\})?$' ||
    printf '  %s\n' "$file"
done)
[ -z "$missing" ] || {
  printf '%s\n' "$missing"
  echo "check-spdx: the files above lack the comment \`SPDX-License-Identifier: BSD-3-Clause\` at their head"
  echo "To add it: tools/add-spdx.py"
  exit 1
}

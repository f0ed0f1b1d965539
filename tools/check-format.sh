#!/bin/sh
# Shows what `make format` would change.
cd "$(dirname "$0")/.."
changes=$(tools/sources.sh | while read -r file; do
  clang-format-19 "$file" | diff -u --label "$file" --label "$file, formatted" "$file" -
done)
[ -z "$changes" ] || {
  printf '%s\n' "$changes" | head -n 100
  echo "check-format: these files would be changed by \`make format\`:"
  printf '%s\n' "$changes" | sed -n 's/^--- \([^\t]*\).*/  \1/p'
  exit 1
}

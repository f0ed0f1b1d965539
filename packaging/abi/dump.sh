#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dump.sh BUILD [FILE]: the C API of libsteelyard as abidw (Debian: abigail-tools) sees it. Without FILE, the dump that
# is kept.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$1
file=${2:-$here/libsteelyard-$(uname -m).abi}
library=$(find "$build" -maxdepth 2 -name libsteelyard.so | head -n 1)
command -v abidw >/dev/null || { echo "abi: abidw is missing: install abigail-tools"; exit 1; }
[ -n "$library" ] || { echo "abi: no libsteelyard.so in $build: build it first"; exit 1; }
abidw --exported-interfaces-only --headers-dir "$here/../../include" --drop-private-types --no-corpus-path \
  --no-comp-dir-path --no-show-locs "$library" | sed "s|$root/||g" >"$file"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compare.sh BUILD: libsteelyard beside the dump that is kept. Additions are let pass; what was there must be there
# still, and mean the same. Ends with 77 (skipped) where that cannot be told.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
kept=$here/libsteelyard-$(uname -m).abi
skip() { echo "abi: skipped: $1"; exit 77; }
command -v abidiff >/dev/null || skip "abidiff is missing (Debian: abigail-tools)"
[ -f "$kept" ] || skip "there is no dump for $(uname -m): make abi"
status=0
abidiff --exported-interfaces-only --headers-dir2 "$here/../../include" --drop-private-types --no-added-syms "$kept" \
  "$(find "$build" -maxdepth 2 -name libsteelyard.so | head -n 1)" || status=$?
# Bit 2: changed; bit 3: incompatible; bits 0 and 1: it could not be compared.
[ $((status & 3)) -eq 0 ] || { echo "abi: abidiff could not compare (status $status)"; exit 1; }
[ "$status" -eq 0 ] || {
  echo "abi: programs that were linked to the last release may not work with this library: keep what they use. If no"
  echo "abi: release has it yet: make abi"
  exit 1
}

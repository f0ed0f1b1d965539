#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# collectives_smpi_test.sh PROGRAM: if one rank of two nodes of 28 ranks or of seven of 8 is late, no other rank waits
# for it long, and all get their data. The simulation has no noise: 1 ms late would be 18 us a rank for each that waits.
set -eu
here=$(dirname "$0")
for shape in "56 28" "56 8" "13 4" "5 1" "1 1"; do
  set -- "$1" $shape
  for late in 0 1 4 16 28 32; do
    [ "$late" -lt "$2" ] || continue
    for policy in sort swap; do
      found=$(machine="$here/fat_tree.xml" timeout 60 "$here/simulate.sh" "$2" --cfg=smpi/allgather:bruck \
              "$1" late 1024 64 1000 steelyard "rank=$late" "node=$3" "policy=$policy")
      # All wait for the root.
      most=15
      [ "$late" -gt 0 ] && [ "$policy" = sort ] || most=1100
      printf '%s\n' "$found" | awk -v most="$most" '$1 == "wait" { wait = $2 } $1 == "wrong" && $2 == 0 { right = 1 }
        END { exit !(right && wait < most) }' || {
        printf '%s\n' "$2 ranks, $3 a node, rank $late late, $policy:" "$found"
        exit 1
      }
    done
  done
done
for bytes in 1048576 1048577; do
  found=$(machine="$here/fat_tree.xml" timeout 60 "$here/simulate.sh" 5 --cfg=smpi/allgather:bruck \
          "$1" late "$bytes" 16 1000 steelyard rank=1 node=2)
  printf '%s\n' "$found" | grep -qx "wrong 0" || {
    printf '%s\n' "5 ranks, $bytes bytes:" "$found"
    exit 1
  }
done

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tasks_smpi_test.sh PROGRAM: runs whose tasks spawn tasks, on ranks that come and look late by chance. Each must end,
# and not before the last result has arrived.
set -eu
here=$(dirname "$0")
for ranks in 1 2 7 24; do
  for node in 1 3 28; do
    for seed in 1 2 3 groups; do
      words="random seed=$seed node=$node runs=3"
      [ "$seed" = groups ] && words="random seed=4 node=$node runs=3 policy=groups group=2"
      # $words is a list.
      found=$(timeout 60 "$here/simulate.sh" "$ranks" "$1" $words)
      complete=$(printf '%s\n' "$found" | grep -c '^lost 0$' || true)
      [ "$complete" -eq 3 ] || { printf '%s\n%s\n' "$ranks ranks, $words:" "$found"; exit 1; }
    done
  done
done
# That groups share at all: without stealing 16 ranks reach 16 %.
found=$("$here/simulate.sh" 16 "$1" dlb seconds=0.5 tasks=50 bytes=1e4 node=1 policy=groups group=4)
printf '%s\n' "$found" | awk '$1 == "efficiency" { reached = $2 } $1 == "lost" && $2 == 0 { complete = 1 }
  END { exit !(complete && reached > 25) }' || { printf '%s\n' "groups:" "$found"; exit 1; }

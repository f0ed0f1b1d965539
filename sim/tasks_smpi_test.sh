#!/bin/sh
# tasks_smpi_test.sh PROGRAM: runs whose tasks spawn tasks, on ranks that come and look late by chance. Each must end, and not
# before the last result is home.
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

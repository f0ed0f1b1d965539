#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# [machine=FILE] [ranks_per_node=N] simulate.sh RANKS PROGRAM [words ...]: runs a program of sim/ on the machine of FILE
# (sim/machine.xml), 28 ranks per node or N. Only the time that the program itself adds passes there, and that of
# messages.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ranks=$1
shift
machine=$(realpath "${machine:-$here/machine.xml}")
ranks_per_node=${ranks_per_node:-28}
# smpirun writes where it is called, and leaves it there if the program fails.
for word; do
  shift
  case $word in --* | /*) ;; */*) [ ! -f "$word" ] || word=$(realpath "$word") ;; esac
  set -- "$@" "$word"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
node=0
while [ $((node * ranks_per_node)) -lt "$ranks" ]; do
  echo "node-$node:$ranks_per_node"
  node=$((node + 1))
done >hosts
smpirun -np "$ranks" -platform "$machine" -hostfile hosts --cfg=smpi/simulate-computation:no \
  --cfg=smpi/iprobe:0 --cfg=smpi/test:0 --cfg=smpi/os:0:1e-6:0 --cfg=smpi/or:0:1e-6:0 --log=root.thresh:warning "$@"

#!/bin/sh
# simulate.sh RANKS PROGRAM [words ...]: runs a program of sim/ on the machine of sim/machine.xml, 28 ranks a node. Only what
# the program itself lets pass takes time there, and messages do.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ranks=$1
shift
hosts=$(mktemp)
trap 'rm -f "$hosts"' EXIT
node=0
while [ $((node * 28)) -lt "$ranks" ]; do
  echo "node-$node:28"
  node=$((node + 1))
done >"$hosts"
smpirun -np "$ranks" -platform "${machine:-$here/machine.xml}" -hostfile "$hosts" --cfg=smpi/simulate-computation:no \
  --cfg=smpi/iprobe:0 --cfg=smpi/test:0 --cfg=smpi/os:0:1e-6:0 --cfg=smpi/or:0:1e-6:0 --log=root.thresh:warning "$@"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# try-slurm.sh [BUILD]: a Slurm of its own on this machine (Debian: slurmctld slurmd slurm-client, as root), on which
# `srun steelyard run` and the job scripts of examples/slurm are tried. It has two nodes, which are two slurmd on this
# machine. Everything it starts ends with it; files in a new folder. Ends with 77 (skipped) where it cannot be tried.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "${1:-build}" && pwd)
for command in slurmctld slurmd srun sbatch; do
  command -v "$command" >/dev/null || {
    echo "try-slurm: skipped: $command is missing: apt-get install slurmctld slurmd slurm-client"
    exit 77
  }
done
[ "$(id -u)" -eq 0 ] || { echo "try-slurm: skipped: slurmd wants to be root"; exit 77; }
cpus=$(nproc)
[ "$cpus" -ge 2 ] || { echo "try-slurm: skipped: two tasks need two CPUs"; exit 77; }

here=$(mktemp -d "${TMPDIR:-/tmp}/try-slurm.XXXXXX")
host=$(hostname -s)
port=$((20000 + $$ % 10000 * 3))
mkdir "$here/state" "$here"/{spool,tmp}-one{1,2}
# No other process talks to it: no munge. Ports of its own, on the loopback.
cat >"$here/slurm.conf" <<END
ClusterName=try
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$port
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/slurmd-%n.pid
SlurmctldLogFile=$here/slurmctld.log
SlurmdLogFile=$here/slurmd-%n.log
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool-%n
TmpFS=$here/tmp-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=one1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=$cpus State=UNKNOWN
NodeName=one2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE
END
unset "${!SLURM_@}" # of a job that this may run in
export SLURM_CONF=$here/slurm.conf
set -a
. tools/mpi.env
set +a

slurmctld -D 2>"$here/slurmctld.err" &
controller=$!
slurmd -D -N one1 2>"$here/slurmd-one1.err" &
daemons=$!
slurmd -D -N one2 2>"$here/slurmd-one2.err" &
daemons="$daemons $!"
stop() {
  kill $daemons "$controller" 2>/dev/null || true
  wait 2>/dev/null || true
  [ "${failed:-0}" -eq 0 ] && rm -rf "$here" || echo "try-slurm: logs and outputs are in $here"
}
trap stop EXIT

for _ in $(seq 60); do
  [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
  sleep 0.5
done
sinfo
failed=0
check() { # check WHAT FILE PATTERN
  if grep -Eq -- "$3" "$2"; then echo "  ok: $1"; else
    echo "  FAILED: $1: no /$3/ in $2"
    cat "$2"
    failed=1
  fi
}

export PATH=$build/bin:$PATH OMP_NUM_THREADS=2
for pair in openmpi:pmix mpich:pmi2; do
  flavour=${pair%:*} mpi=${pair#*:}
  program=$build/examples/unbalanced.$flavour.gcc
  [ -x "$program" ] || continue
  echo "== $flavour, srun --mpi=$mpi"
  record=$here/$flavour.json
  status=0
  OMP_NUM_THREADS=1 timeout 120 srun --mpi="$mpi" -w one1 -n 2 --cpu-bind=none steelyard run \
    --record="$record" "$program" --steps=6 --work=6 >"$here/$flavour.out" 2>&1 || status=$?
  cat "$here/$flavour.out"
  [ "$status" -eq 0 ] || { echo "  FAILED: exit status $status"; failed=1; }
  check "one job of two ranks" "$here/$flavour.out" '^steelyard: 2 ranks on 1 node'
  check "the record has job, step and nodes" "$record" \
    "\"slurm\": \\{\"job\": \"[0-9]+\", \"step\": \"[0-9]+\", \"node_list\": \"one1\"\\}"
  record=$here/$flavour.nodes.json
  # Steelyard sees by the kernel's boot ID that both nodes are this machine: --ranks-per-node separates them. Open MPI
  # names its shared-memory files by host and rank in the node: over them, this job crashes without Steelyard, too.
  OMPI_MCA_btl=self,tcp OMP_NUM_THREADS=1 timeout 120 srun --mpi="$mpi" -N 2 --ntasks-per-node=2 \
    --cpu-bind=none steelyard run \
    --ranks-per-node=2 --record="$record" "$program" --steps=6 --work=6 >"$here/$flavour.nodes.out" 2>&1 || {
    echo "  FAILED: exit status $?"
    failed=1
  }
  cat "$here/$flavour.nodes.out"
  check "one job on two nodes" "$here/$flavour.nodes.out" '^steelyard: 4 ranks on 2 nodes'
  check "the record has both nodes" "$record" '"node_list": "one\[1-2\]"'
  timeout 60 srun --mpi="$mpi" -n 1 -c 1 --cpu-bind=map_cpu:0 steelyard doctor "$program" \
    >"$here/$flavour.doctor" 2>&1 || true
  grep -E 'launcher|Slurm' "$here/$flavour.doctor" || true
  check "the doctor on one CPU for two threads" "$here/$flavour.doctor" \
    'note +Slurm: this task has 1 CPU .*--cpus-per-task=2'
  OMP_NUM_THREADS=$cpus timeout 60 srun --mpi="$mpi" -w one1 -n 2 --cpu-bind=none steelyard doctor "$program" \
    >"$here/$flavour.shared" 2>&1 || true
  check "the doctor on tasks that share too few CPUs" "$here/$flavour.shared" \
    "note +Slurm: 2 tasks of this node share $cpus CPUs .* for $((2 * cpus)) threads"
  timeout 60 srun --mpi=none -N 1 -n 2 --overcommit --cpu-bind=none steelyard doctor "$program" \
    >"$here/$flavour.alone" 2>&1 || true
  check "the doctor on tasks that will not meet" "$here/$flavour.alone" "note +Slurm: .*srun --mpi=$mpi"
done

flavour=openmpi
[ -x "$build/examples/unbalanced.$flavour.gcc" ] || { flavour=mpich && export SLURM_MPI_TYPE=pmi2; }
# Hardware threads count here: there may be too few cores.
for script in examples/slurm/*.sh; do
  sed 's/--hint=nomultithread/--hint=multithread/' "$script" >"$here/${script##*/}"
done
try() { # try SCRIPT TASKS CPUS PROGRAM ARGUMENTS: one node instead of the script's
  local script=$1 tasks=$2 each=$3 program=$build/examples/$4.$flavour.gcc
  shift 4
  echo "== examples/slurm/$script.sh, $tasks x $each"
  (cd "$here" && timeout 120 sbatch --wait --nodes=1 --ntasks-per-node="$tasks" --cpus-per-task="$each" \
    --output="$here/$script.out" "$script.sh" "$program" "$@") || { echo "  FAILED: exit status $?"; failed=1; }
  check "$tasks ranks measured" "$here/$script.out" "^steelyard: $tasks ranks? on 1 node"
  check "a record of the job" "$here/$script.out" 'record +.*steelyard-run\.[0-9]+\.json'
}
work=(--steps=6 --work=6)
try observe 2 $((cpus / 2)) unbalanced "${work[@]}"
check "the full report" "$here/observe.out" '^  Slurm +job [0-9]+, step 0 on '
try cores 2 $((cpus / 2)) unbalanced "${work[@]}"
check "the doctor in the job" "$here/cores.out" '^ok +launcher: Slurm'
try loops 1 "$cpus" unbalanced "${work[@]}"
check "what was learnt" "$here/loops.json" '"executions"'
try collectives 2 $((cpus / 2)) late
try phases 2 1 coupled
try tasks 2 1 reactive
[ "$failed" -eq 0 ] && echo "try-slurm: all well"
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Iterations of dynamic, guided and runtime loops move between threads. What is learnt of each loop is kept for the next
# job.
#SBATCH --job-name=loops
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=12
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
set -eu
[ $# -gt 0 ] || set -- ./app # sbatch loops.sh PROGRAM ARGUMENTS

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK OMP_SCHEDULE=dynamic OMP_PROC_BIND=close
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK

# Each rank has a file of its own: loops.json.0, loops.json.1, ...
srun --hint=nomultithread steelyard run --loops=auto --loops-learn="$SLURM_SUBMIT_DIR/loops.json" "$@"

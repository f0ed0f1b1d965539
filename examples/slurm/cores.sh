#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Cores move between the ranks of a node; the program is as it is. 2 nodes x 8 ranks x 6 threads.
#SBATCH --job-name=cores
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=6
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
set -eu
[ $# -gt 0 ] || set -- ./app # sbatch cores.sh PROGRAM ARGUMENTS

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
# Since 22.05 srun does not take --cpus-per-task from sbatch.
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK

# into the job's output: what will be seen, and what not
srun --hint=nomultithread --nodes=1 --ntasks=1 steelyard doctor "$1"
srun --hint=nomultithread steelyard run "$@"

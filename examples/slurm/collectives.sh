#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Broadcasts that no late rank holds up, for a program as it is. auto compares with the MPI library's, among the ranks
# of a node, and leaves them to it where no rank waits less.
#SBATCH --job-name=collectives
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=6
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
set -eu
[ $# -gt 0 ] || set -- ./app # sbatch collectives.sh PROGRAM ARGUMENTS

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK

srun --hint=nomultithread steelyard run --collectives=auto "$@"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures a program and moves nothing: the first thing to run.
#SBATCH --job-name=observe
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=6
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
set -eu
[ $# -gt 0 ] || set -- ./app # sbatch observe.sh PROGRAM ARGUMENTS

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK

srun --hint=nomultithread steelyard run --observe "$@"
steelyard report --full "steelyard-run.$SLURM_JOB_ID.json"

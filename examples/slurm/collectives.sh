#!/bin/bash
# Broadcasts that no late rank holds up, for a program as it is.
#SBATCH --job-name=collectives
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=6
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
set -eu
app=${1:-./app}

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK

srun steelyard run --collectives=on --record="steelyard-$SLURM_JOB_ID.json" "$app"

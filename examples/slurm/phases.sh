#!/bin/bash
# One process a core; in the threaded phases of the program some work with more cores while the others sleep.
# The program calls steelyard/phases.h. So each process may use all cores of the job on its node: --cpu-bind=none would do
# that, and --cpu-bind=cores says where each is at home.
#SBATCH --job-name=phases
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=48
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
set -eu
app=${1:-./coupled}

export OMP_NUM_THREADS=1 SRUN_CPUS_PER_TASK=1

# Works without `steelyard run` as well; with it the run is weighed.
srun --cpu-bind=cores steelyard run --record="steelyard-$SLURM_JOB_ID.json" "$app"

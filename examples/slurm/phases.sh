#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One process a core; in the threaded phases of the program some work with more cores while the others sleep.
# The program calls steelyard/phases.h. Each process is bound to a core of its own, where it is at home. In a phase the
# chosen ones are bound to the cores of those who sleep as well: all of them are the job's.
#SBATCH --job-name=phases
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=48
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
set -eu
[ $# -gt 0 ] || set -- ./coupled # sbatch phases.sh PROGRAM ARGUMENTS

export OMP_NUM_THREADS=1 SRUN_CPUS_PER_TASK=1

# Works without `steelyard run` as well; with it the run is measured.
srun --hint=nomultithread steelyard run "$@"

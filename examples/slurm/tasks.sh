#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tasks find an idle process on any node. The program calls steelyard/tasks.h.
#SBATCH --job-name=tasks
#SBATCH --nodes=16
#SBATCH --ntasks-per-node=48
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
set -eu
[ $# -gt 0 ] || set -- ./reactive # sbatch tasks.sh PROGRAM ARGUMENTS

export OMP_NUM_THREADS=1 SRUN_CPUS_PER_TASK=1

# Works without `steelyard run` as well; with it the summary tells what was stolen.
srun --hint=nomultithread steelyard run "$@"

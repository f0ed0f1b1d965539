// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steelyard/steelyard.h"
#define STEELYARD_WITHOUT_MPI
#include "steelyard/tasks.h"

// What libsteelyard tells the preload library, where there is one. Defined twice, as the public API is; not part of it.
/// A context for so many processes of this node is about to be created.
extern "C" STEELYARD_API void steelyard_internal_phases_begin(int processes);
/// This process has entered a phase or pushed a binding, and has left and popped all of them: phases/hold.h.
extern "C" STEELYARD_API void steelyard_internal_hold_begins(void);
extern "C" STEELYARD_API void steelyard_internal_hold_ends(int64_t phases);
/// A configuration of a phase (steelyard/phases.h), and what is known of it.
struct steelyard_internal_configuration {
  const char* resource;  ///< a type, as messages name it
  int max_per_resource;  ///< processes for each of these resources
  int processes;         ///< of the node that work
  int threads;           ///< of the process that has the most
  double seconds;        ///< typical time of a run; 0: none was measured
  /// Part of that time which the fastest configuration saves, with its confidence interval; that is infinite if the two
  /// were not compared.
  double gain, gain_low, gain_high;
};
/// How a phase has run until now.
struct steelyard_internal_phase {
  int number;     ///< of this process's phases, from 0
  int processes;  ///< of the node that share its context
  int created;    ///< how often such a phase was created, one after the other
  int autotuned;  ///< 1: it compares its configurations
  int64_t runs;
  double seconds;  ///< in all runs
  int best;        ///< the fastest configuration so far
  int count;
  const steelyard_internal_configuration* configurations;  ///< `count` of them
};
/// The first process of a context has left a phase.
extern "C" STEELYARD_API void steelyard_internal_phase_left(const steelyard_internal_phase* phase);
/// A task pool is about to run with so many threads at most, in the parallel region of the calling thread if there is
/// one.
extern "C" STEELYARD_API void steelyard_internal_pool_runs(int threads);
/// The calling thread shares out the iterations of a loop with the team of its parallel region.
extern "C" STEELYARD_API void steelyard_internal_work_shared(void);
/// 1 if the present parallel region has more threads than the program asked for.
extern "C" STEELYARD_API int steelyard_internal_team_is_larger(void);
/// A task pool is freed: what it did, and by which transport.
extern "C" STEELYARD_API void steelyard_internal_tasks_ended(const steelyard_task_pool_statistics_t* statistics,
                                                             const char* transport);
/// The calling thread waits for other processes, outside of MPI: asleep while they work in a phase, or with no task to
/// run.
extern "C" STEELYARD_API void steelyard_internal_wait_begins(int quiesced);
extern "C" STEELYARD_API void steelyard_internal_wait_ends(void);

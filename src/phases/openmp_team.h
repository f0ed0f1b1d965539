// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <vector>

// The OpenMP runtime that the program has loaded, GNU's or LLVM's: its functions are looked up by name. Both have
// GOMP_parallel, so this code can run a region without being compiled for either.
namespace steelyard::phases::openmp {

/// Threads of the next region of this thread; 0 if the program has loaded no OpenMP runtime.
int max_threads();
void set_threads(int count);
bool in_parallel();
/// True if threads that are created later get places of the runtime's own choice, not the affinity mask of their
/// creator.
bool binds_threads();

/// Runs `body(thread)` in a team of max_threads(). False if no runtime is loaded: then nothing was run.
bool run_team(const std::function<void(int thread)>& body);
/// The same. Afterwards, workers of LLVM's runtime sleep at once, so that other processes get the cores.
bool run_last_team(const std::function<void(int thread)>& body);

}  // namespace steelyard::phases::openmp

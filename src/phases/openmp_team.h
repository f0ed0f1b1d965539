// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <vector>

// The OpenMP runtime that the program has loaded, whichever it is: found by name, never brought along. Both GNU's and
// LLVM's know GOMP_parallel, by which a region is run here without being compiled for either.
namespace steelyard::phases::openmp {

/// Threads of the next region of this thread; 0 where the program has loaded no OpenMP runtime.
int max_threads();
void set_threads(int count);
bool in_parallel();
/// True if threads that are created later get places of the runtime's own choice, not the affinity mask of their
/// creator.
bool binds_threads();

/// Runs `body(thread)` in a team of max_threads(). False where no runtime is loaded: nothing was run.
bool run_team(const std::function<void(int thread)>& body);
/// The same, after which the workers go to sleep at once where the runtime lets itself be told (LLVM's). Others that
/// have slept meanwhile get their cores back.
bool run_last_team(const std::function<void(int thread)>& body);

}  // namespace steelyard::phases::openmp

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "intercept/mpi/library.h"
namespace steelyard::intercept {

/// Between these two, the runtime is told of the program's windows.
void remember_windows();
void forget_windows();

/// A window was made for the program, in whatever thread and language. That it is freed is seen by itself.
void window_made(MPI_Win window);

}  // namespace steelyard::intercept

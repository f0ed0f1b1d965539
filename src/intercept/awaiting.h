// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

// A program that has no MPI when it starts (--internal-awaits-mpi): an interpreter that loads MPI later, or a script or
// wrapper that starts an MPI program. The preload library then comes into every process that descends from the one that
// `steelyard run` became, and does nothing until MPI is initialised there.
namespace steelyard::intercept {

/// From the constructor of the preload library.
void await_mpi();

/// MPI has been initialised in this process. Before session::start().
void mpi_begins();

/// MPI has been initialised, but it is of a family for which this preload library is not made.
void other_mpi_begins();

/// From the constructor of the preload library, in the program that `steelyard run` became. Its own children are to
/// start as if Steelyard were not there.
void program_begins();

}  // namespace steelyard::intercept

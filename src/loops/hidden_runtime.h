// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The functions of an OpenMP runtime that is linked statically cannot be found by name. Each of its threads seems to be
// alone, and would execute all iterations of a loop.
namespace steelyard::loops::hidden_runtime {

/// True if the executable or library at this address has an OpenMP runtime linked into it. Searches its read-only
/// memory for the names of the environment variables that all runtimes read. Slow at the first call for an address.
bool within(const void* address);

/// True if the calling thread may be in a team of a runtime that cannot be asked. Takes about 10 ns.
/// @param caller an address in the program
/// @return false in the first thread of a process, and in regions of a runtime that can be asked
bool may_be_in_team(const void* caller);

}  // namespace steelyard::loops::hidden_runtime

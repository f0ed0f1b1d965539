// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// An OpenMP runtime that is linked into a program cannot be asked by name: each of its threads seems to be alone, and
// would run all iterations of a loop.
namespace steelyard::loops::hidden_runtime {

/// The executable or library that this address lies in has an OpenMP runtime of its own in it. Nobody tells: it is
/// looked for by what each of them reads, in memory that nobody writes. Slow the first time.
bool within(const void* address);

/// The calling thread may be in a team of which nobody can be asked. `caller`: in the program. About 10 ns, and nothing
/// in the first thread of a process, nor in regions of a runtime that answers.
bool may_be_in_team(const void* caller);

}  // namespace steelyard::loops::hidden_runtime

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The libraries of this process, from any thread. Handles are as dlopen() gives them, and stay valid: the library is
// held.
namespace steelyard::base {

/// The library that `address` lies in; null if there is none.
void* library_of(const void* address);

/// The function `name` in the first library that has it, also in those that the program has opened for itself
/// (RTLD_LOCAL). Leaves out the library that `caller` lies in. Null if no other has it. Slow: goes through all
/// libraries.
void* find_in_libraries(const char* name, const void* caller);

}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

namespace steelyard::partition {

// What is known of imported functions (of the OpenMP runtime, the C, the C++ and the Fortran library) by their names.

/// True for the two thread queries, which compilers and programs call.
inline bool is_query(std::string_view name) { return name == "omp_get_thread_num" || name == "omp_get_num_threads"; }

constexpr int kMostArguments = 6;  // Format: System V ABI, arguments in general registers.
/// The number of arguments that a function takes in general registers; kMostArguments if the function is not known.
int arguments_of(std::string_view name);
inline bool is_known(std::string_view name) { return arguments_of(name) < kMostArguments; }
/// True for functions that throw an exception, or continue to throw one.
bool throws(std::string_view name);
/// False for functions that never return.
bool returns(std::string_view name);
/// True for functions of the C library that never return, if a program may have a function of that name which does.
bool may_never_return(std::string_view name);
/// True for memset() and the like, whose third argument is a length in bytes.
bool takes_length(std::string_view name);

}  // namespace steelyard::partition

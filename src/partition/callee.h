// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string_view>

#include "partition/instruction.h"
#include "partition/register_use.h"

namespace steelyard::partition {

/// The function that a call reaches.
struct Callee {
  std::string_view name;    ///< of an imported function that another object defines; empty for others
  bool is_imported = true;  ///< it keeps to the calling convention: its caller cannot know more of it
  bool is_pointer = false;  ///< it is called through a pointer of the program's
  RegisterUse registers;    ///< of a function that is not imported
  int query = -1;           ///< the number of this query in the function
};

constexpr int kMostArguments = 6;  // Format: System V ABI, arguments in general registers.
/// Of the arguments in general registers, how many an imported function of the OpenMP runtime, the C or the C++ library
/// takes. 6, which is the most, for functions that are not known.
int arguments_of(std::string_view name);
inline bool is_known(std::string_view name) { return arguments_of(name) < kMostArguments; }
/// True for functions that throw an exception, or go on to throw one.
bool throws(std::string_view name);
/// False for functions of these libraries that never come back.
bool returns(std::string_view name);
/// True for functions that never come back in the C library, but whose names a program may give to functions of its
/// own.
bool may_return(std::string_view name);
/// True where the third argument is a length in bytes, as of memset().
bool takes_length(std::string_view name);

}  // namespace steelyard::partition

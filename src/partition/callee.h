// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

#include "partition/register_use.h"

namespace steelyard::partition {

/// The function that a call reaches.
struct Callee {
  std::string_view name;    ///< of an imported function, which another object defines; empty for others
  bool is_imported = true;  ///< only the calling convention is known of it. False: a function of the same image
  bool is_pointer = false;  ///< it is called through a pointer
  RegisterUse registers;    ///< of a function of the same image
  int query = -1;           ///< the number of this thread query in the calling function; -1: it is none
};

}  // namespace steelyard::partition

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "partition/instruction.h"

namespace steelyard::partition {

/// The next instructions of one in the same function; its own, null at the end of what is known.
struct Following {
  const Instruction* instruction = nullptr;
  const std::vector<std::uint64_t>* to = nullptr;
};

/// An upper bound of the bytes above the stack pointer in which a call may have arguments. They are the callee's to
/// overwrite (System V ABI), so they end below each word that the caller reads after the call without having written
/// it.
/// @param after the instruction after the call
/// @param find the instruction at an address
std::int64_t end_of_stack_arguments(std::uint64_t after, const std::function<Following(std::uint64_t)>& find);

}  // namespace steelyard::partition

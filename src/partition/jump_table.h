// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "partition/image.h"
#include "partition/instruction.h"
#include "partition/stack_arguments.h"

namespace steelyard::partition {

/// The part of a function that is known so far: its instructions, and the predecessors of each.
struct KnownCode {
  static constexpr std::uint64_t kCaller = 0;  ///< Encoding: the predecessor of the entry; no instruction is there
  std::function<CodePoint(std::uint64_t)> find;
  std::map<std::uint64_t, std::vector<std::uint64_t>> predecessors;
};

/// The targets of a jump through a table, as gcc compiles a `switch`: all entries up to the highest index that a
/// comparison before the jump lets through. The table has addresses of 8 bytes, or offsets of 4 bytes from one address.
/// Correct for all executions that use known code only.
///
/// @param entry where the function begins
/// @return each address once. Empty if the table, its address or the highest index is not known, if the table can be
/// written, or if an entry lies outside of the function and of the parts that the compiler has split off
std::vector<std::uint64_t> targets_of_table(const Image& image, const KnownCode& code, const Instruction& jump,
                                            std::uint64_t entry);

}  // namespace steelyard::partition

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

/// The instructions of a function that are known so far, and those that may be executed directly before each of them.
struct KnownCode {
  static constexpr std::uint64_t kCaller = 0;  ///< Encoding: before the entry; no instruction has this address
  std::function<Following(std::uint64_t)> find;
  std::map<std::uint64_t, std::vector<std::uint64_t>> before;
};

/// Where a jump through a table may go to, as gcc compiles a `switch`: all entries up to the highest index that a
/// comparison before the jump lets through. The table has addresses of 8 bytes, or of 4 bytes that are added to one
/// address. Correct for all executions that run through the known code alone.
///
/// @param entry where the function begins
/// @return each address once. Empty if the table, its address or the highest index is not known, if the table can be
/// written, or if an entry lies outside of the function and of the parts that the compiler has split off
std::vector<std::uint64_t> ways_through_table(const Image& image, const KnownCode& code, const Instruction& jump,
                                              std::uint64_t entry);

}  // namespace steelyard::partition

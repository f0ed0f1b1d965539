// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "partition/instruction.h"

namespace steelyard::partition {

/// The next instructions of one in the same function; its own, null at the end of what is known.
struct Following {
  const Instruction* instruction = nullptr;
  const std::vector<std::uint64_t>* to = nullptr;
};

/// Words that a caller keeps over a call: it reads them after the call without having written them. The arguments are
/// the callee's to overwrite (System V ABI), so they end below each of these words.
struct KeptWords {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t lowest = kNone;  ///< in bytes above the stack pointer of the call
  struct Word {
    std::int64_t offset;  ///< from rbp
    std::int64_t least;   ///< it is one if it lies at least as far above the stack pointer of the call
  };
  std::vector<Word> from_frame_pointer;

  /// @param frame_pointer where rbp points to, in bytes above the stack pointer
  std::int64_t lowest_with(std::int64_t frame_pointer) const;
};

/// @param after the instruction after a call
/// @param find the instruction at an address
KeptWords words_kept_over_call(std::uint64_t after, const std::function<Following(std::uint64_t)>& find);

}  // namespace steelyard::partition

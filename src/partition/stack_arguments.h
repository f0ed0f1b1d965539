// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "partition/instruction.h"

namespace steelyard::partition {

/// An instruction of a function, with the addresses of its successors. Both null if there is no known instruction.
struct CodePoint {
  const Instruction* instruction = nullptr;
  const std::vector<std::uint64_t>* successors = nullptr;
};

/// The words on the stack that a caller reads after a call without having written them after it. The callee may
/// overwrite its arguments (System V ABI), so arguments on the stack end below each of these words.
struct KeptWords {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t lowest = kNone;  ///< of those addressed through rsp: bytes above the stack pointer at the call
  struct Word {
    std::int64_t offset;  ///< bytes above rbp
    std::int64_t least;   ///< it is such a word if it lies at least as many bytes above the stack pointer at the call
  };
  std::vector<Word> from_frame_pointer;  ///< words addressed through rbp

  /// The lowest of all of these words, in bytes above the stack pointer at the call.
  /// @param frame_pointer where rbp points to, in bytes above the stack pointer at the call
  std::int64_t lowest_with(std::int64_t frame_pointer) const;
};

/// Follows all ways from a call as far as they are known, at most to the next call.
/// @param after the instruction after a call
/// @param find returns the instruction at an address
KeptWords words_kept_over_call(std::uint64_t after, const std::function<CodePoint(std::uint64_t)>& find);

}  // namespace steelyard::partition

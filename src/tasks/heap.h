// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "tasks/shared_memory.h"

namespace steelyard::tasks {

/// Allocates blocks in memory that the processes of a node share. Only the owner allocates; any process may free. Grows
/// as needed. A block is identified by its offset in the shared memory; 0 is no block.
class Heap {
 public:
  /// A stack of blocks in shared memory: the newest block, whose header names the next one. One process empties it, and
  /// only as a whole. So the compare-and-swap of push() has no ABA problem.
  using Stack = Atomic<std::uint64_t>;
  /// In front of the bytes of each block.
  struct Header {
    std::uint32_t size_class;
    Shared<std::uint64_t> next;  ///< block of the stack on which this block lies
  };

  /// Allocates a part of the shared memory by its offset and size in bytes; false if there is no memory left.
  using AllocatePages = std::function<bool(std::uint64_t, std::uint64_t)>;
  /// Blocks lie between the offsets `first` and `end` of `base`.
  /// @param returned blocks that other processes have freed
  Heap(char* base, std::uint64_t first, std::uint64_t end, Stack& returned, AllocatePages allocate);

  /// A block for `bytes`; 0 if there is no memory.
  std::uint64_t take(std::size_t bytes);
  /// Frees a block of this heap. For the owner only.
  void give(std::uint64_t block);
  /// Puts a block on a stack: lock-free, from any process. On `returned`, that gives it back to its owner.
  static void push(char* base, Stack& stack, std::uint64_t block);

  static Header& header(char* base, std::uint64_t block) { return *reinterpret_cast<Header*>(base + block); }
  /// The bytes behind the header, aligned to 16.
  static char* bytes(char* base, std::uint64_t block) { return base + block + sizeof(Header); }
  /// Bytes allocated so far.
  std::uint64_t allocated() const { return allocated_ - first_; }

 private:
  static constexpr int kClasses = 4 * 32;  ///< Encoding: four for each doubling of kSmallest, to 2^38 bytes.
  static std::uint64_t size_of(std::uint32_t size_class);
  static std::uint32_t class_for(std::uint64_t bytes);

  char* base_;
  std::uint64_t first_, end_, top_, allocated_;
  Stack& returned_;
  AllocatePages allocate_;
  std::vector<std::uint64_t> free_[kClasses];
};

}  // namespace steelyard::tasks

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace steelyard::tasks {

/// Blocks of bytes in memory that the processes of a node share. One owner takes them; any process may give them back.
/// Grows as needed; a block is named by its offset in the shared memory, 0 being none.
class Heap {
 public:
  /// Blocks that others gave back, in shared memory.
  using Returned = std::atomic<std::uint64_t>;
  /// In front of the bytes of each block.
  struct Header {
    std::uint32_t size_class;
    std::atomic<std::uint32_t> busy;  ///< for the users of the block
    std::uint64_t next;               ///< likewise; of a stack while the block is free
  };

  /// Blocks lie between the offsets `first` and `end` of `base`. `back(offset, bytes)` makes sure that memory is there;
  /// false where there is none.
  using Back = std::function<bool(std::uint64_t, std::uint64_t)>;
  Heap(char* base, std::uint64_t first, std::uint64_t end, Returned& returned, Back back);

  /// 0 where there is no memory.
  std::uint64_t take(std::size_t bytes);
  void give(std::uint64_t block);
  /// By any other process. Lock-free.
  static void give_back(char* base, Returned& returned, std::uint64_t block);

  static Header& header(char* base, std::uint64_t block) { return *reinterpret_cast<Header*>(base + block); }
  /// What lies behind the header, aligned to 16.
  static char* bytes(char* base, std::uint64_t block) { return base + block + sizeof(Header); }
  std::uint64_t backed() const { return backed_ - first_; }

 private:
  static constexpr int kClasses = 4 * 32;
  static std::uint64_t size_of(std::uint32_t size_class);
  static std::uint32_t class_for(std::uint64_t bytes);

  char* base_;
  std::uint64_t first_, end_, top_, backed_;
  Returned& returned_;
  Back back_;
  std::vector<std::uint64_t> free_[kClasses];
};

}  // namespace steelyard::tasks

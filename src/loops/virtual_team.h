// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "loops/range.h"

namespace steelyard::loops {

/// A team of more threads than there are: each real thread runs the parts of several virtual threads, in turn.
/// This divides a static loop that queries thread ID and thread count into as many chunks as there are virtual threads.
///
/// Each thread begins with a block of neighbouring virtual threads, the same in each execution, so that it finds its
/// data in its cache. A thread that has finished its block takes virtual threads from other blocks.
class VirtualTeam {
 public:
  static constexpr int kMostThreads = 64;  ///< Size: 512 bytes
  VirtualTeam() = default;
  /// Before its threads exist. `size` virtual threads, for `threads` real ones, at most kMostThreads. If fewer of these
  /// come, they run all the same.
  void begin(int size, int threads) {
    size_ = size;
    threads_ = std::clamp(threads, 1, kMostThreads);
    for (int thread = 0; thread < threads_; ++thread) {
      const Range block{first_of(thread), first_of(thread + 1)};
      blocks_[static_cast<std::size_t>(thread)].store(pack(block, 0), std::memory_order_relaxed);
    }
  }
  /// 0: there are no virtual threads.
  int size() const { return size_; }
  /// The next virtual thread that this real one is to run. Nothing when all have begun.
  std::optional<int> next(int thread) {
    if (thread < threads_) {
      if (const std::optional<int> own = take(thread, true)) return own;
    }
    for (;;) {
      int fullest = -1;
      std::uint32_t most = 0;
      for (int other = 0; other < threads_; ++other) {
        const std::uint32_t left = left_of(other).size();
        if (left > most) fullest = other, most = left;
      }
      if (fullest < 0) return std::nullopt;
      if (const std::optional<int> stolen = take(fullest, false)) return stolen;
    }
  }

 private:
  std::uint32_t first_of(int thread) const {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(size_) * thread / threads_);
  }
  Range left_of(int thread) const {
    return unpack(blocks_[static_cast<std::size_t>(thread)].load(std::memory_order_relaxed), 0, {});
  }
  std::optional<int> take(int thread, bool from_front) {
    std::atomic<std::uint64_t>& block = blocks_[static_cast<std::size_t>(thread)];
    std::uint64_t word = block.load(std::memory_order_relaxed);
    for (;;) {
      Range left = unpack(word, 0, {});
      if (left.empty()) return std::nullopt;
      const std::uint32_t taken = from_front ? left.begin++ : --left.end;
      if (block.compare_exchange_weak(word, pack(left, 0), std::memory_order_relaxed)) return static_cast<int>(taken);
    }
  }

  int size_ = 0;
  int threads_ = 1;
  std::array<std::atomic<std::uint64_t>, kMostThreads> blocks_;
};

}  // namespace steelyard::loops

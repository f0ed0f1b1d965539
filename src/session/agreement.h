// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "loops/succession.h"

namespace steelyard::session {

/// What the threads of a region agree upon for each of its loops. The answer of the thread that comes first to a loop
/// is that of all: a thread with another answer would divide the loop in another way than its team. No thread waits.
class Agreement {
 public:
  static constexpr std::uint32_t kKept = loops::kLoopsApart;
  static constexpr int kBits = 34;  ///< Encoding: of an answer

  /// The answer for the loop with this number, from 0. `ask` is called by the first thread, and by a thread that comes
  /// so late that the answer is gone.
  template <class Ask>
  std::uint64_t at(std::uint32_t number, const Ask& ask) {
    const std::uint32_t tag = (number + 1) & kTags;
    std::atomic<std::uint64_t>& said = said_[number % kKept];
    std::uint64_t word = said.load(std::memory_order_relaxed);
    if (tag_of(word) == tag && word != 0) return word & kAnswers;
    const std::uint64_t mine = static_cast<std::uint64_t>(ask()) & kAnswers;
    while (word == 0 || is_before(tag_of(word), tag)) {
      // Relaxed: the word is all there is to agree on.
      if (said.compare_exchange_weak(word, std::uint64_t{tag} << kBits | mine, std::memory_order_relaxed)) return mine;
      if (tag_of(word) == tag && word != 0) return word & kAnswers;
    }
    return mine;
  }

  /// For the next region. No thread may call at() meanwhile.
  void reset() {
    for (std::atomic<std::uint64_t>& said : said_) {
      if (said.load(std::memory_order_relaxed) == 0) break;  // they are used from the first on
      said.store(0, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::uint64_t kAnswers = (std::uint64_t{1} << kBits) - 1;
  static constexpr std::uint32_t kTags = UINT32_MAX >> (kBits - 32);
  static std::uint32_t tag_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> kBits); }
  /// Tags wrap around.
  static bool is_before(std::uint32_t one, std::uint32_t other) { return ((other - one) & kTags) <= kTags / 2; }

  std::array<std::atomic<std::uint64_t>, kKept> said_ = {};
};

}  // namespace steelyard::session

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>

#include "loops/plan.h"

// How a range of iterations is divided: the arithmetic that the engine and the model of it in the tests share.
namespace steelyard::loops {

/// Units [begin, end): iterations, or groups of iterations if there are more than 32 bits can count.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  constexpr std::uint32_t size() const { return end - begin; }
  constexpr bool empty() const { return begin == end; }
};

/// A range in one word, so that one compare-and-swap takes from either end. The two halves of an empty range hold the
/// round in which it became empty. A word that is empty since an earlier round was not changed in this round, and
/// stands for the planned range. Therefore no thread has to prepare the words of a round.
inline constexpr std::uint64_t pack(Range range, std::uint32_t round) {
  if (range.empty()) range = {round, round};
  return static_cast<std::uint64_t>(range.end) << 32 | range.begin;
}
inline constexpr Range unpack(std::uint64_t word, std::uint32_t round, Range planned) {
  const Range range{static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  if (!range.empty()) return range;
  return range.begin == round ? Range{} : planned;
}

/// Groups make up for counts beyond 32 bits.
inline constexpr std::uint64_t unit_of(std::uint64_t count) { return count / UINT32_MAX + (count % UINT32_MAX != 0); }

/// How many units a thread takes from the front of its own range, or of the pool.
inline std::uint32_t bite(ChunkRule rule, std::uint32_t chunk, std::uint32_t threads, std::uint32_t pool,
                          std::uint32_t left) {
  std::uint64_t size = std::max<std::uint32_t>(1, chunk);
  if (rule == ChunkRule::guided) {
    size = std::max<std::uint64_t>(size, (left + 2ULL * threads - 1) / (2ULL * threads));
  } else if (rule == ChunkRule::factoring) {
    // Batches of one chunk a thread, each batch half of what was left: which batch this is follows from what is left.
    std::uint64_t start = pool, piece = 0;
    do {
      piece = std::max<std::uint64_t>(size, (start + 2ULL * threads - 1) / (2ULL * threads));
      start = start > piece * threads ? start - piece * threads : 0;
    } while (start >= left && start > 0);
    size = piece;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, left));
}

/// How many units a thief takes from the back of another's range.
inline std::uint32_t loot(Steal steal, std::uint32_t chunk, std::uint32_t left) {
  if (steal == Steal::none) return 0;
  return steal == Steal::half ? left - left / 2 : std::min(std::max<std::uint32_t>(1, chunk), left);
}

}  // namespace steelyard::loops

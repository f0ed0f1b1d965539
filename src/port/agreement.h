// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>

// What a group of ranks agrees on. Every function is collective over the group and blocks: all ranks call the same
// functions in the same order, with the same sizes.
namespace steelyard::port {

/// For the start of a capability.
class Agreement {
 public:
  virtual ~Agreement() = default;
  /// True if `mine` is true on all ranks.
  virtual bool all_agree(bool mine) = 0;
  /// Copies the bytes of rank 0 to the other ranks.
  virtual void broadcast(void* bytes, std::size_t size) = 0;
};

/// A few words from each rank to each.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// @param mine `words` words
  /// @param all room for `words` words of each rank, in the order of ranks
  virtual void gather(const std::int64_t* mine, int words, std::int64_t* all) = 0;
  /// @param by_rank a number for each rank
  /// @return the sum of what all ranks passed for this rank
  virtual std::int64_t sum_for_this_rank(const std::int64_t* by_rank) = 0;
};

}  // namespace steelyard::port

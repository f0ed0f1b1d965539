// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <vector>

#include "observe/packed.h"

namespace steelyard::observe {

/// Samples of a run of any length in bounded memory: when it is full, neighbours are merged pairwise, and from then on
/// twice as many samples go into one. Sums over all samples stay what they are.
class Timeline {
 public:
  /// Keeps at most `most` samples; none if that is 0 or less. 1 counts as 2, other odd numbers as the even one below.
  explicit Timeline(int most);
  /// In order of time. O(1) amortised; allocates nothing after construction.
  void add(const Sample& sample);
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  std::size_t most_;
  std::size_t stride_ = 1;   // samples that go into one
  std::size_t in_last_ = 0;  // samples that went into the last one
  std::vector<Sample> samples_;
};

}  // namespace steelyard::observe

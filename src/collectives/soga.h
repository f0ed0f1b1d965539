// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "collectives/virtual_ranks.h"

// The rule of Soga et al. as they print it, to compare with: nothing is added, and nothing else uses it.
namespace steelyard::collectives::soga {

inline constexpr std::int64_t kUnknown = -1;  ///< Encoding: wait of a rank from which no information has arrived

/// At a rank: its wait is reported if it differs from that of the previous broadcast by more than the threshold.
class Reporter {
 public:
  explicit Reporter(std::int64_t threshold) : threshold_(threshold) {}
  /// True until reported(), once a wait has differed.
  bool waited(std::int64_t ns);
  void reported() { differs_ = false; }
  std::int64_t value() const { return previous_; }

 private:
  std::int64_t threshold_;  // ns
  std::int64_t previous_ = 0;
  bool differs_ = false;
};

/// Exchanges the rank with the maximum wait and that with the minimum, the lowest of equals, "from the information
/// arrived so far". The root receives nothing and so has no wait. False if all known waits are equal.
/// @param waits ns, by rank
bool exchange(VirtualRanks& table, int root, const std::vector<std::int64_t>& waits);

}  // namespace steelyard::collectives::soga

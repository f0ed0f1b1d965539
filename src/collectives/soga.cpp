// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/soga.h"

#include <cstdlib>

namespace steelyard::collectives::soga {

bool Reporter::waited(std::int64_t ns) {
  differs_ |= std::abs(ns - previous_) > threshold_;
  previous_ = ns;
  return differs_;
}

bool exchange(VirtualRanks& table, int root, const std::vector<std::int64_t>& waits) {
  int least = -1, most = -1;
  const auto wait = [&](int rank) { return waits[static_cast<std::size_t>(rank)]; };
  for (int rank = 0; rank < table.size(); ++rank) {
    if (rank == root || wait(rank) == kUnknown) continue;
    if (least < 0 || wait(rank) < wait(least)) least = rank;
    if (most < 0 || wait(rank) > wait(most)) most = rank;
  }
  if (least < 0 || wait(least) == wait(most)) return false;
  table.exchange(least, most);
  return true;
}

}  // namespace steelyard::collectives::soga

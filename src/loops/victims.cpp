#include "loops/victims.h"

#include <algorithm>
#include <numeric>

namespace steelyard::loops {

std::vector<std::vector<std::uint16_t>> nearest_first(std::span<const Place> places) {
  const std::size_t threads = places.size();
  std::vector<std::vector<std::uint16_t>> victims(threads);
  for (std::size_t thief = 0; thief < threads; ++thief) {
    const auto shared = [&](std::uint16_t other) {
      const auto& mine = places[thief];
      const auto& its = places[other];
      const auto part = std::mismatch(mine.begin(), mine.end(), its.begin(), its.end());
      return part.first - mine.begin();
    };
    const auto after = [&](std::uint16_t other) { return (other + threads - thief) % threads; };
    for (std::size_t other = 0; other < threads; ++other) {
      if (other != thief) victims[thief].push_back(static_cast<std::uint16_t>(other));
    }
    std::ranges::sort(victims[thief], [&](std::uint16_t a, std::uint16_t b) {
      return shared(a) != shared(b) ? shared(a) > shared(b) : after(a) < after(b);
    });
  }
  return victims;
}

}  // namespace steelyard::loops

// SPDX-License-Identifier: BSD-3-Clause
#include "loops/victims.h"

#include <algorithm>
#include <numeric>

namespace steelyard::loops {
namespace {

constexpr Place kLevel = UINT16_MAX;  // bits of the core; the other levels lie above them
constexpr int kLevels = sizeof(Place) / sizeof(std::uint16_t);

}  // namespace

Place common(Place a, Place b) {
  Place both = 0;
  for (Place level = kLevel; level != 0; level <<= 16) {
    if ((a & level) == (b & level)) both |= a & level;
  }
  return both;
}

std::vector<std::uint16_t> nearest_first(std::size_t thief, std::span<const Place> places) {
  const Place mine = places[thief];
  if (mine == 0 || std::ranges::all_of(places, [&](Place place) { return place == mine; })) return {};
  const auto shared = [&](std::uint16_t other) {
    const Place both = common(mine, places[other]);
    int levels = 0;
    for (Place level = kLevel; level != 0; level <<= 16) levels += (both & level) != 0;
    return levels;
  };
  // All threads side by side, as in the machine: threads that share a resource are neighbours.
  std::vector<std::uint16_t> row(places.size());
  std::iota(row.begin(), row.end(), std::uint16_t{0});
  std::ranges::sort(
      row, [&](std::uint16_t a, std::uint16_t b) { return places[a] != places[b] ? places[a] < places[b] : a < b; });
  const auto me = std::ranges::find(row, static_cast<std::uint16_t>(thief));
  std::vector<std::uint16_t> victims;
  victims.reserve(row.size() - 1);
  auto begin = me, end = me + 1;  // of those that are in `victims`, and this one
  for (int level = kLevels; level >= 0; --level) {
    auto first = begin, last = end;
    while (first != row.begin() && shared(first[-1]) >= level) --first;
    while (last != row.end() && shared(*last) >= level) ++last;
    // First those behind, then those in front. The n-th thread at equal distance begins with the n-th of them.
    const auto added = static_cast<std::ptrdiff_t>(victims.size());
    victims.insert(victims.end(), end, last);
    victims.insert(victims.end(), first, begin);
    if (const auto count = static_cast<std::ptrdiff_t>(victims.size()) - added; count > 0) {
      const auto group = victims.begin() + added;
      std::rotate(group, group + (me - begin) % count, victims.end());
    }
    begin = first;
    end = last;
  }
  return victims;
}

}  // namespace steelyard::loops

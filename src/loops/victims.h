// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace steelyard::loops {

/// Where a thread runs, in one word that others can read at any time: its package, NUMA domain, L3 and core, from the
/// widest to the narrowest. Each has 16 bits and is numbered from 1 over the whole machine. A part is 0 if the thread
/// may leave it, or if it is not known (index -1).
using Place = std::uint64_t;
constexpr Place place_of(int package, int numa, int l3, int core) {
  const auto number = [](int index) { return static_cast<Place>(static_cast<std::uint16_t>(index + 1)); };
  return number(package) << 48 | number(numa) << 32 | number(l3) << 16 | number(core);
}
/// The part of the machine that contains both: the place of a thread that may be in either.
Place common(Place a, Place b);

/// The other threads in the order in which `thief` steals from them: first those that share most of the machine with
/// it. Thieves at equal distance begin with different victims. Empty if the order does not matter: the thief's place is
/// not known, or all have the same place.
std::vector<std::uint16_t> nearest_first(std::size_t thief, std::span<const Place> places);

}  // namespace steelyard::loops

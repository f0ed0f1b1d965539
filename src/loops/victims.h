// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace steelyard::loops {

/// Where a thread runs, in one word that others can read at any time: its package, NUMA domain, L3 and core, 16 bits
/// each, from the widest to the narrowest, numbered from 1 over the whole machine. What it may leave is 0, and so is
/// what is not known: index -1.
using Place = std::uint64_t;
constexpr Place place_of(int package, int numa, int l3, int core) {
  const auto number = [](int index) { return static_cast<Place>(static_cast<std::uint16_t>(index + 1)); };
  return number(package) << 48 | number(numa) << 32 | number(l3) << 16 | number(core);
}
/// What both are in: the place of a thread that may be in either.
Place common(Place a, Place b);

/// The other threads in the order in which this one looks for work: those first that share most of the machine with it.
/// Thieves that have as far to the same threads begin with different ones. Empty where nothing tells them apart: this
/// one's place is not known, or all have the same.
std::vector<std::uint16_t> nearest_first(std::size_t thief, std::span<const Place> places);

}  // namespace steelyard::loops

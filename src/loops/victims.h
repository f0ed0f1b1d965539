#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace steelyard::loops {

/// Where a thread runs, from the widest resource to the narrowest: its package, NUMA domain, L3, core. Threads that share
/// more of these are nearer to each other.
using Place = std::vector<int>;

/// For each thread, the others in the order in which it should look for work: the nearest first, and among equally near ones
/// the next by number, so that thieves of one resource begin with different victims. One place a thread.
std::vector<std::vector<std::uint16_t>> nearest_first(std::span<const Place> places);

}  // namespace steelyard::loops

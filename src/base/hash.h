// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace steelyard::base {

/// FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923): the same in all processes and runs. It tells damaged or different
/// bytes apart, and does not withstand an attacker.
constexpr std::uint64_t fnv1a(std::span<const std::byte> bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211u;
  return hash;
}

/// Multiplies by 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4): the high bits of the
/// product differ for addresses that are close to each other.
constexpr std::uint64_t spread(std::uint64_t key) { return key * 0x9e3779b97f4a7c15u; }

}  // namespace steelyard::base

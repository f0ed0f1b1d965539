// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <type_traits>

namespace steelyard::loops {

/// The iterations of a loop, numbered from 0, and the value of the loop variable in each. Values are kept modulo 2^64,
/// so that one type serves signed and unsigned variables of all widths, up to their limits.
struct Space {
  std::uint64_t first = 0;
  std::uint64_t stride = 1;  ///< two's complement where negative
  std::uint64_t count = 0;
  std::uint64_t value(std::uint64_t iteration) const { return first + iteration * stride; }
  bool operator==(const Space&) const = default;
};

/// `for (i = first; i < last; i += stride)`, or `i > last` where the stride is negative. `Value` is std::int64_t or
/// std::uint64_t; the stride is signed in both. Nothing where the stride is 0.
template <class Value>
constexpr std::optional<Space> half_open(Value first, Value last, std::int64_t stride) {
  static_assert(std::is_integral_v<Value> && sizeof(Value) == 8);
  if (stride == 0) return std::nullopt;
  const auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(last);
  Space space{from, static_cast<std::uint64_t>(stride), 0};
  // Distance and step as unsigned numbers: neither overflows, whatever the limits.
  if (stride > 0 && first < last) space.count = (to - from - 1) / space.stride + 1;
  if (stride < 0 && first > last) space.count = (from - to - 1) / (0 - space.stride) + 1;
  return space;
}

/// `do i = first, last, stride`: `last` belongs to it, as the runtimes of compilers have it. Nothing where the stride
/// is 0, or where there are 2^64 iterations, which no 64-bit number counts.
template <class Value>
constexpr std::optional<Space> inclusive(Value first, Value last, std::int64_t stride) {
  static_assert(std::is_integral_v<Value> && sizeof(Value) == 8);
  if (stride == 0) return std::nullopt;
  const auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(last);
  Space space{from, static_cast<std::uint64_t>(stride), 0};
  const bool up = stride > 0;
  if (up ? first <= last : first >= last) {
    const std::uint64_t steps = up ? (to - from) / space.stride : (from - to) / (0 - space.stride);
    if (steps == UINT64_MAX) return std::nullopt;
    space.count = steps + 1;
  }
  return space;
}

}  // namespace steelyard::loops

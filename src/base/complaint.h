// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// How waits that may never end are reported: the same times and the same list of ranks in tasks and in phases.
namespace steelyard::base {

/// ns: a delay that no reader notices.
inline constexpr std::int64_t kUnnoticed = 100'000'000;

/// When a wait is reported: after 10 s, 1 min, 10 min, then each hour.
inline constexpr std::int64_t kFirstComplaint = 10'000'000'000;  // ns
inline std::int64_t next_complaint(std::int64_t last) {
  constexpr std::int64_t kMinute = 60'000'000'000;  // Format: ns of a minute
  if (last < kMinute) return kMinute;
  return last < 10 * kMinute ? 10 * kMinute : (last / (60 * kMinute) + 1) * (60 * kMinute);
}

/// "rank 3", "ranks 3 and 5", "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 24 more".
inline std::string list_of_ranks(const std::vector<int>& ranks) {
  constexpr std::size_t kNamed = 8;  // Size: of a line of text
  const std::size_t named = ranks.size() <= kNamed + 1 ? ranks.size() : kNamed;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  if (named < ranks.size()) text += fmt::format(" and {} more", ranks.size() - named);
  return text;
}

}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace steelyard::base {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replace = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  const int most = std::max(2, static_cast<int>(word.size()) / 3);
  const bool has_letters = word.find_first_not_of('-') != std::string_view::npos;
  std::string_view best;
  std::tuple<bool, int, int> best_rank;
  for (const auto candidate : candidates) {
    const int distance = edit_distance(word, candidate);
    const int size = static_cast<int>(candidate.size());
    const bool begun = has_letters && candidate.starts_with(word);
    // A short word is within two edits of nearly everything: at least half of it must be right.
    if (!begun && (distance > most || 2 * distance > size)) continue;
    // A letter is left out, or typed twice, more often than it is replaced: of candidates at the same distance, that
    // whose size differs more has fewer replacements.
    const std::tuple rank(!begun, distance, -std::abs(size - static_cast<int>(word.size())));
    if (best.empty() || rank < best_rank) std::tie(best, best_rank) = std::tie(candidate, rank);
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const auto meant = nearest(word, candidates);
  return meant.empty() ? "" : fmt::format("did you mean {}?", meant);
}

std::string unknown_word(std::string_view kind, std::string_view seen, const std::vector<std::string_view>& candidates,
                         std::string_view otherwise) {
  const std::string meant = did_you_mean(seen, candidates);
  return fmt::format("unknown {} {}; {}", kind, seen, meant.empty() ? otherwise : meant);
}

}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace steelyard::base {

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate that a mistyped word was probably meant to be; "" where none is near. A candidate that begins with the
/// word comes first. Then the fewest edits count, and of these the fewest replacements.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

/// "did you mean --full?"; "" where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

/// What is wrong with a word: "unknown option --ful; did you mean --full?". Where no candidate is near, `otherwise`
/// follows the word: "unknown option --x; see `steelyard report --help`".
std::string unknown_word(std::string_view kind, std::string_view seen, const std::vector<std::string_view>& candidates,
                         std::string_view otherwise);

}  // namespace steelyard::base

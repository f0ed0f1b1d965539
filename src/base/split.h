// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>
#include <vector>

namespace steelyard::base {

/// The pieces of `text` between the characters of `delimiters`, empty ones too: always one more than there are
/// delimiters.
inline std::vector<std::string_view> split(std::string_view text, std::string_view delimiters) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find_first_of(delimiters);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

/// The same without an empty last piece: a list that may end with a delimiter, and is empty where the text is.
inline std::vector<std::string_view> items_of(std::string_view text, std::string_view delimiters) {
  std::vector<std::string_view> items = split(text, delimiters);
  if (items.back().empty()) items.pop_back();
  return items;
}

/// The same as split() without the empty pieces.
inline std::vector<std::string_view> words_of(std::string_view text, std::string_view delimiters) {
  std::vector<std::string_view> words = split(text, delimiters);
  std::erase(words, std::string_view());
  return words;
}

}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace steelyard::base {

/// `text` for a terminal: each control character, in ASCII or of U+0080 to U+009F in UTF-8, becomes a question mark.
/// Names of programs, hosts and regions are not ours, and could move the cursor, or write what Steelyard did not say.
/// @param kept control characters that stay, such as the "\n" of a message of several lines
std::string printable(std::string_view text, std::string_view kept = "");

/// The same, in place. Returns the new size, which may be smaller.
std::size_t make_printable(char* text, std::size_t size, std::string_view kept = "");

/// "a, b, c and 4 more": so many names that they fit into a line.
std::string first_of(const std::vector<std::string>& names);

}  // namespace steelyard::base

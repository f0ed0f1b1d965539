// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Plain text for people: short lists, wrapped lines, tables.
namespace steelyard::observe {

/// "rank 3", "ranks 0-3", "ranks 0, 2, 5-7"; at most `most` stretches, then "..." and how many there are in all.
/// `numbers` ascending.
std::string rank_list(const std::vector<int>& numbers, std::size_t most = 6);
/// The same with another noun, given in the singular.
std::string numbered(std::string_view noun, const std::vector<int>& numbers, std::size_t most = 6);
/// "6 each" where all are alike, otherwise "9,7,7,6"; after `most` numbers "..." and the range of all.
std::string counts(const std::vector<int>& values, std::size_t most = 16);
/// Whether an interval says that there is a difference: not if a bound is zero as it is printed, "0.0 to 0.1 %".
bool excludes_zero(double low, double high);
/// 0.2187 as "21.9 %".
std::string percent(double fraction, int digits = 0);
/// "61.2 ms", "3.41 s", "870 us".
std::string duration(double seconds);
/// "8.65 core s".
std::string core_seconds(std::int64_t ns);
/// Appends a text that the list does not have yet.
void add_new(std::vector<std::string>& list, const std::string& text);
/// "1 move", "3 moves".
std::string plural(long count, std::string_view noun);
/// Columns that the text takes on a terminal.
std::size_t width(std::string_view text);

/// Breaks at blanks, but not in lists of numbers, into lines of at most `columns`: the first begins with `head`, the
/// others with as many blanks. What does not go into `most` lines ends in "...". Blanks of all kinds, line ends among
/// them, become one; other control characters are replaced (base/printable.h). Words that are too long are cut.
std::vector<std::string> wrapped(std::string_view head, std::string_view text, std::size_t columns, std::size_t most);

/// Columns as wide as their widest cell; those that hold numbers are right-aligned. Control characters in cells are
/// replaced.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(const std::vector<std::string>& row);
  std::string text(std::string_view indent = "  ") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace steelyard::observe

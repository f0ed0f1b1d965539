// SPDX-License-Identifier: BSD-3-Clause
#include "observe/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/clock.h"
#include "base/printable.h"

namespace steelyard::observe {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The longest start of the text that takes at most `columns`.
std::string_view cut(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t used = 0; end < text.size(); ++end) {
    if (!continues_character(text[end]) && ++used > columns) break;
  }
  return text.substr(0, end);
}

/// True for a figure and its per cent sign, "rank" and its number, and numbers of a list: no line ends between them.
bool stay_together(std::string_view word, std::string_view next) {
  constexpr std::string_view nouns[] = {"rank", "ranks", "node", "nodes"};
  if (next[0] == '%') return true;
  const bool in_list = word.ends_with(',') && word.find_first_not_of("0123456789-,") == std::string_view::npos;
  if (in_list && next.starts_with("...")) return true;
  return std::isdigit(static_cast<unsigned char>(next[0])) != 0 &&
         (in_list || std::ranges::find(nouns, word) != std::end(nouns));
}

std::vector<std::string> words_of(std::string_view text, std::size_t columns) {
  std::vector<std::string> words(1);
  for (const char c : base::printable(text, "\t\n\v\f\r")) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  for (std::size_t i = words.size(); i-- > 1;) {
    if (!stay_together(words[i - 1], words[i]) || width(words[i - 1]) + 1 + width(words[i]) > columns) continue;
    words[i - 1] += ' ' + words[i];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return words;
}

bool is_number(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) || cell[0] == '-' || cell[0] == '+');
}

}  // namespace

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

bool excludes_zero(double low, double high) { return std::round(1000 * low) > 0 || std::round(1000 * high) < 0; }

std::string percent(double fraction, int digits) {
  const std::string figure = fmt::format("{:.{}f}", 100 * fraction, digits);
  const bool nothing = figure.find_first_not_of("-0.") == std::string::npos;
  return (nothing && figure[0] == '-' ? figure.substr(1) : figure) + " %";
}

std::string core_seconds(std::int64_t ns) {
  const double value = base::seconds(ns);
  return fmt::format("{:.{}f} core s", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string duration(double seconds) {
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  const auto [unit, name] = size < 999.5e-6 ? std::pair{1e-6, "us"}
                            : size < 0.9995 ? std::pair{1e-3, "ms"}
                                            : std::pair{1.0, "s"};
  const double value = seconds / unit;
  const int digits = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, name);
}

void add_new(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

std::string plural(long count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string rank_list(const std::vector<int>& numbers, std::size_t most) { return numbered("rank", numbers, most); }

std::string numbered(std::string_view noun, const std::vector<int>& numbers, std::size_t most) {
  std::string list;
  std::size_t stretches = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (++stretches > most) return fmt::format("{}s {}, ... ({} in all)", noun, list, numbers.size());
    if (!list.empty()) list += ", ";
    list += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return fmt::format("{}{} {}", noun, numbers.size() == 1 ? "" : "s", list);
}

std::string counts(const std::vector<int>& values, std::size_t most) {
  if (values.empty()) return "none";
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  if (values.size() > 1 && *least == *largest) return fmt::format("{} each", *least);
  const std::size_t shown = std::min(values.size(), most);
  const auto list =
      fmt::format("{}", fmt::join(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(shown), ","));
  return shown == values.size() ? list : fmt::format("{},... ({} to {})", list, *least, *largest);
}

std::vector<std::string> wrapped(std::string_view head, std::string_view text, std::size_t columns, std::size_t most) {
  const std::size_t indent = width(head);
  const std::size_t room = columns > indent + 4 ? columns - indent : 4;
  std::vector<std::string> lines(1);
  for (const std::string& whole : words_of(text, room)) {
    const std::string_view word = cut(whole, room);
    const std::size_t used = width(lines.back());
    if (used != 0 && used + 1 + width(word) > room) {
      if (lines.size() == most) {
        lines.back() = std::string(cut(lines.back(), room - 4)) + " ...";
        break;
      }
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  for (std::string& line : lines)
    line.insert(0, &line == &lines.front() ? base::printable(head) : std::string(indent, ' '));
  return lines;
}

void Table::add(const std::vector<std::string>& row) {
  auto& cells = rows_.emplace_back();
  for (const std::string& cell : row) cells.push_back(base::printable(cell));
}

std::string Table::text(std::string_view indent) const {
  std::vector<std::size_t> widths(rows_[0].size(), 0);
  std::vector<bool> numbers(rows_[0].size(), rows_.size() > 1);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
      if (&row != &rows_[0] && !row[i].empty() && !is_number(row[i])) numbers[i] = false;
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      const std::string padding(widths[i] - width(row[i]), ' ');
      if (i > 0) line += "  ";
      line += numbers[i] ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace steelyard::observe

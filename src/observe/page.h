// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "observe/text.h"

namespace steelyard::observe {

inline constexpr std::size_t kColumns = 100;   ///< Size: characters of a line
inline constexpr std::size_t kMostLines = 20;  ///< Size: lines that fit on a terminal of 24

/// The lines of the summary, of limited width and number.
class Page {
 public:
  /// @param room lines at most
  explicit Page(std::size_t room) : room_(room) {}
  void line(std::string_view indent, const std::string& text) { add(wrapped(indent, text, kColumns, 1)); }
  /// A paragraph of at most `most` lines with its label in front.
  void say(std::string_view label, const std::string& text, std::size_t most) {
    if (room_ < most && room_ < lines_for(label, text)) cut_ = true;
    if (room_ > 0) add(wrapped(head(label), text, kColumns, std::min(most, room_)));
  }
  std::size_t lines_for(std::string_view label, const std::string& text) const {
    return wrapped(head(label), text, kColumns, kMostLines + 1).size();
  }
  std::size_t room() const { return room_; }
  /// True if a paragraph had no room, or not enough.
  bool cut() const { return cut_; }
  std::vector<std::string> lines;

 private:
  static std::string head(std::string_view label) { return fmt::format("  {:<10}", label); }
  void add(const std::vector<std::string>& more) {
    const std::size_t taken = std::min(more.size(), room_);
    lines.insert(lines.end(), more.begin(), more.begin() + static_cast<std::ptrdiff_t>(taken));
    room_ -= taken;
  }
  std::size_t room_;
  bool cut_ = false;
};

}  // namespace steelyard::observe

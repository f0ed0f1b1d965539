// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace steelyard::base {

std::size_t make_printable(char* text, std::size_t size, std::string_view kept) {
  char* out = text;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < size ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool of_two_bytes = byte == 0xc2 && next >= 0x80 && next <= 0x9f;
    const bool is_control = byte < 0x20 || byte == 0x7f || of_two_bytes;
    *out++ = is_control && kept.find(text[i]) == std::string_view::npos ? '?' : text[i];
    if (of_two_bytes) ++i;
  }
  return static_cast<std::size_t>(out - text);
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string out(text);
  out.resize(make_printable(out.data(), out.size(), kept));
  return out;
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 3;  // Size: names in a line of text
  const std::size_t named = std::min(kNamed, names.size());
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(named);
  const std::string more = names.size() > named ? fmt::format(" and {} more", names.size() - named) : "";
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), more);
}

}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.h"

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

}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.h"

namespace steelyard::base {

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool of_two_bytes = byte == 0xc2 && next >= 0x80 && next <= 0x9f;
    const bool is_control = byte < 0x20 || byte == 0x7f || of_two_bytes;
    out += is_control && kept.find(text[i]) == std::string_view::npos ? '?' : text[i];
    if (of_two_bytes) ++i;
  }
  return out;
}

}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#include "base/renamed_options.h"

#include <fmt/format.h>

namespace steelyard::base {

std::string renamed(std::string_view seen, NameShape shape) {
  for (const auto& option : renamed_options) {
    if (seen == shape(option.before)) return fmt::format("{} is now {}", seen, shape(option.now));
  }
  return {};
}

}  // namespace steelyard::base

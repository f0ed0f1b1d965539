// SPDX-License-Identifier: BSD-3-Clause
#include "base/renamed_options.h"

#include <fmt/format.h>

namespace steelyard::base {

std::string refusal_of_old_name(std::string_view seen, NameShape shape) {
  for (const auto& option : renamed_options) {
    if (seen == shape(option.before)) return fmt::format("{} is now {}", seen, shape(option.now));
  }
  for (const auto& option : removed_options) {
    if (seen == shape(option.name)) return fmt::format("{} was removed: {}", seen, option.why_and_instead);
  }
  return {};
}

}  // namespace steelyard::base

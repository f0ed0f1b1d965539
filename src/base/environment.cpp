// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.h"

#include <unistd.h>

namespace steelyard::base {

Environment environment() {
  Environment copy;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view line = *entry;
    const auto equals = line.find('=');
    if (equals != std::string_view::npos) copy.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return copy;
}

std::string_view value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

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

char** variables() { return environ; }

std::string_view value_of(char* const variables[], std::string_view name) {
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const std::string_view line = *variables;
    if (line.starts_with(name) && line.substr(name.size()).starts_with('=')) return line.substr(name.size() + 1);
  }
  return {};
}

std::string_view value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view() : std::string_view(found->second);
}

int number_of(const Environment& environment, std::string_view name) {
  const auto text = value_of(environment, name);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max(value, 0);
}

}  // namespace steelyard::base

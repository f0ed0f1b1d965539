// SPDX-License-Identifier: BSD-3-Clause
#include "base/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/split.h"

namespace steelyard::base {
namespace {

constexpr std::array<std::string_view, 7> kBases = {"auto",  "static",   "guided", "factoring",
                                                    "steal", "adaptive", "hybrid"};
constexpr std::array<std::string_view, 3> kModifiers = {"tuned", "slack", "staggered"};  // in the order of their bits
static_assert(kStrategies == kBases.size() - 1 + (1U << kModifiers.size()));

std::vector<std::string_view> sorted_parts(std::string_view name) {
  std::vector<std::string_view> parts = split(name, "+");
  std::ranges::sort(parts);
  return parts;
}

}  // namespace

const std::vector<std::string_view>& strategy_names() {
  static const auto& texts = *new std::vector<std::string>([] {
    std::vector<std::string> made(kBases.begin(), kBases.end());
    for (std::size_t bits = 1; bits < 1U << kModifiers.size(); ++bits) {
      std::string& name = made.emplace_back(kBases.back());
      for (std::size_t i = 0; i < kModifiers.size(); ++i) {
        if ((bits >> i & 1) != 0) name.append("+").append(kModifiers[i]);
      }
    }
    return made;
  }());
  static const auto& names = *new std::vector<std::string_view>(texts.begin(), texts.end());
  return names;
}

const std::vector<std::string_view>& strategy_grammar() {
  static const auto& hybrid = *new std::string(fmt::format("{}[+{}]", kBases.back(), fmt::join(kModifiers, "][+")));
  static const auto& grammar = *new std::vector<std::string_view>([] {
    std::vector<std::string_view> made(kBases.begin(), kBases.end());
    made.back() = hybrid;
    return made;
  }());
  return grammar;
}

const std::vector<ShortName>& short_strategy_names() {
  static const auto& names = *new std::vector<ShortName>{{"tuned", static_cast<int>(Strategy::tuned)},
                                                         {"slack", static_cast<int>(Strategy::slack)},
                                                         {"staggered", static_cast<int>(Strategy::staggered)},
                                                         {"combined", static_cast<int>(Strategy::combined)}};
  return names;
}

int index_of(std::string_view text, const std::vector<std::string_view>& names, const std::vector<ShortName>& shorts) {
  for (const auto& [name, index] : shorts) {
    if (name == text) return index;
  }
  const auto parts = sorted_parts(text);
  const auto found = std::ranges::find_if(names, [&](std::string_view name) { return sorted_parts(name) == parts; });
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

std::string did_you_mean(std::string_view text, std::vector<std::string_view> names,
                         const std::vector<ShortName>& shorts) {
  for (const auto& each : shorts) names.push_back(each.first);
  const std::string meant = did_you_mean(text, names);
  return meant.empty() ? "" : "; " + meant;
}

}  // namespace steelyard::base

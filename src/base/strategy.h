// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The names of the loop strategies: a base, and for `hybrid` any of the modifiers, joined by `+`. The option `loops`,
// the API and the files of `loops` take all names from here. What a composition does: loops/plan.h. The terms of Kale,
// "Composing Low-Overhead Scheduling Strategies" (2015), are in brackets.
namespace steelyard::base {

/// Modifiers of `hybrid`. Each is one bit.
enum class Modifier {
  tuned = 1,  ///< [uSched] the static fraction is that of the model in loops/fraction.h, not the user's
  slack = 2,  ///< [slackSched adds it to uSched] less of the loop is dynamic: what the next collective waits for anyway
  staggered = 4  ///< [vSched adds it to uSched] the dynamic part of a thread adjoins its static part
};

enum class Strategy {
  automatic,  ///< chooses among some of the others, by measurement: loops/policy.h
  even,       ///< `static`: equal parts, nothing moves
  guided,     ///< chunks from a pool that become smaller
  factoring,  ///< the same in batches of equal chunks
  steal,      ///< a range for each thread, thieves take half of what is left
  adaptive,   ///< steal, with ranges that follow the measured loads
  hybrid,     ///< [hybSched] a static part each, the rest in chunks from a pool; hybrid + the sum of its modifiers
  tuned = hybrid + 1,
  slack = hybrid + 3,      ///< [slackSched] tuned+slack
  staggered = hybrid + 4,  ///< with the user's fraction. [vSched] is hybrid+tuned+staggered
  combined = hybrid + 7,   ///< [comboSched] tuned+slack+staggered
  off                      ///< as an option only: none
};
inline constexpr int kStrategies = static_cast<int>(Strategy::off);

constexpr bool has(Strategy strategy, Modifier modifier) {
  const int modifiers = static_cast<int>(strategy) - static_cast<int>(Strategy::hybrid);
  return modifiers > 0 && strategy != Strategy::off && (modifiers & static_cast<int>(modifier)) != 0;
}

/// "auto", "hybrid+tuned": all that can be asked for, in the order of the enumeration, without `off`.
const std::vector<std::string_view>& strategy_names();
/// Their grammar: "auto", ..., "hybrid[+tuned][+slack][+staggered]".
const std::vector<std::string_view>& strategy_grammar();

using ShortName = std::pair<std::string_view, int>;  ///< and the index of the name that it stands for
/// "slack" for "hybrid+tuned+slack".
const std::vector<ShortName>& short_strategy_names();

/// Index of the name that `text` means: itself, with the parts between `+` in another order, or by a short name. -1:
/// none.
int index_of(std::string_view text, const std::vector<std::string_view>& names, const std::vector<ShortName>& shorts);
/// "; did you mean staggered?", or nothing if no name is near.
std::string did_you_mean(std::string_view text, std::vector<std::string_view> names,
                         const std::vector<ShortName>& shorts);

}  // namespace steelyard::base

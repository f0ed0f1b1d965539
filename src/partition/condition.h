// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "partition/instruction.h"
#include "partition/state.h"

namespace steelyard::partition {

/// What a condition code says of the two operands of the last comparison, or of the last result and 0.
enum class Relation { less, not_less, greater, not_greater, equal, not_equal, unknown };
/// @param kind a conditional jump, cmovcc or setcc
Relation relation_of(x86_insn kind);

/// What is known of the thread if a condition holds.
enum class Meaning {
  no_matter,  ///< nothing: the condition does not depend on the team
  thread_0,
  not_thread_0,
  one_more,  ///< it has one iteration more (see value.h)
  not_one_more,
  depends  ///< the condition depends on the team in another way
};
Meaning meaning_of(const State& state, Relation relation);

/// The queries that the flags depend on.
std::uint64_t sources_of(const State::Flags& flags);
/// The division whose values were compared; 0: none.
std::uint64_t division_of(const State::Flags& flags);
/// 1 in a thread with one iteration more, else 0.
Value one_if_more(std::uint64_t sources, std::uint64_t division);

}  // namespace steelyard::partition

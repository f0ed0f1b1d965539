// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "partition/instruction.h"
#include "partition/state.h"

namespace steelyard::partition {

/// What a condition code says of the last comparison, or of the last result and 0.
enum class Relation { less, not_less, greater, not_greater, equal, not_equal, unknown };
/// Of a conditional jump, cmovcc or setcc.
Relation relation_of(x86_insn kind);

/// What it means for a thread that a condition holds.
enum class Meaning { no_matter, thread_0, not_thread_0, one_more, not_one_more, depends };
Meaning meaning_of(const State& state, Relation relation);

/// The queries that a condition depends on, and the division that its values are of.
std::uint64_t sources_of(const State::Flags& flags);
std::uint64_t division_of(const State::Flags& flags);
/// 1 in a thread with one iteration more, else 0.
Value one_if_more(std::uint64_t sources, std::uint64_t iterations);

}  // namespace steelyard::partition

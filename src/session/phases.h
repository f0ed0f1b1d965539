// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "observe/record.h"

// Phases and bindings of the program (steelyard/phases.h).
namespace steelyard::session {

/// The program is about to create a context of phases (steelyard/phases.h) for so many processes of this node. If these
/// are not all of it, phases may use cores that were moved to others: this process keeps its cores then.
void phases_begin(int processes);
/// While this process is in a phase, or has pushed a binding, its cores and its thread count are left to the program:
/// borrowed cores are returned before, and none is lent. `phases`: ns of it in which phases ran; -1: there was none.
void hold_begins();
void hold_ends(std::int64_t phases);
/// This process, the first of its context, has left a phase: how this has run until now. Rank and node are not set.
void phase_left(observe::PhaseRecord phase);

}  // namespace steelyard::session

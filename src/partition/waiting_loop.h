// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include "partition/instruction.h"

namespace steelyard::partition {

/// True if a function has a loop that may wait for what another thread does, e.g. `while (!ready);`. That is a loop of
/// which no exit depends on anything that the loop itself changes from one round to the next, in a register or in a
/// word of the stack. A counter that decides no exit makes no difference; a loop that gives up after a number of rounds
/// does not wait.
/// @param function its instructions, ascending by address
bool has_waiting_loop(const std::vector<Instruction>& function);

}  // namespace steelyard::partition

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include "partition/instruction.h"

namespace steelyard::partition {

/// True if one of the loops in a function may wait for what another thread does, e.g. `while (!ready);`: no way out of
/// it depends on anything that the loop itself changes from one round to the next, in a register or in a word of the
/// stack. A loop with a counter that decides nothing waits all the same; one that gives up after a while does not.
/// @param function its instructions by address
bool has_waiting_loop(const std::vector<Instruction>& function);

}  // namespace steelyard::partition

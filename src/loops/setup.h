// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "loops/registry.h"

namespace steelyard::loops {

/// The registry as the options of this process want it: made ready at first use. What it learns is saved where the
/// process exits, if an option says so.
Registry& ready_registry();

/// What the option `loops-replay` has not repeated, as a sentence. Empty if it has repeated all loops, or was not
/// given. A process without run record and summary prints the sentence when it exits.
std::string left_out_of_replay();

}  // namespace steelyard::loops

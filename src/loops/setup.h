// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "loops/registry.h"

namespace steelyard::loops {

/// The registry as the options of this process want it: made ready at first use. What it learns is saved where the
/// process exits, if an option says so.
Registry& ready_registry();

/// What the option `loops-replay` has not repeated, as a sentence; empty where it has repeated all, or was not given.
/// Where the process has no run record and no verdict, this is said at its end.
std::string left_out_of_replay();

}  // namespace steelyard::loops

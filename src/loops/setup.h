#pragma once
#include "loops/registry.h"

namespace steelyard::loops {

/// The registry as the options of this process want it: made ready at first use. What it learns is saved where the process
/// exits, if an option says so.
Registry& ready_registry();

}  // namespace steelyard::loops

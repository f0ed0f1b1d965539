// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

#include "loops/victims.h"
#include "node/topology.h"

namespace steelyard::loops {

/// Where the calling thread is bound to; 0 if it may run anywhere. No value while another thread queries hwloc. Takes
/// about 0.5 us. If know_machine() was not called, the first bound thread of the process queries hwloc, which takes
/// some ms.
std::optional<Place> place_of_this_thread();
/// Sets the machine, for callers that have queried hwloc anyway.
void know_machine(const node::Topology& topology);

}  // namespace steelyard::loops

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>

#include "loops/victims.h"
#include "node/topology.h"

namespace steelyard::loops {

/// Where the calling thread is bound to; 0 where it may go anywhere. Nothing while another thread asks hwloc. About 0.5
/// us, but for the first thread of the process that is bound: where know_machine() has not been called, it is the one
/// that asks.
std::optional<Place> place_of_this_thread();
/// The machine, from who has asked hwloc anyway.
void know_machine(const node::Topology& topology);

}  // namespace steelyard::loops

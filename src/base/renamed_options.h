// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "base/options.h"

// Options whose names have changed. An old name is refused, and the refusal names the new one: an option that is
// silently ignored could let thread counts change where the user had forbidden it.
namespace steelyard::base {

struct RenamedOption {
  std::string_view before, now;
};

inline constexpr std::array renamed_options{
    RenamedOption{"thread-local", "thread-local-data"},
    RenamedOption{"thread-numbers", "thread-ids"},
    RenamedOption{"learn", "loops-learn"},
    RenamedOption{"replay", "loops-replay"},
    RenamedOption{"loops-static", "loops-static-percent"},
    RenamedOption{"loops-reweigh", "loops-rebalance-static"},
    RenamedOption{"timeline", "timeline-samples"},
    RenamedOption{"domain", "cores-domain"},
    RenamedOption{"broadcast-tree", "collectives-tree"},
    RenamedOption{"broadcast-every", "collectives-tree-every"},
    RenamedOption{"broadcast-threshold", "collectives-tree-threshold"},
    RenamedOption{"verdict", "summary"},
    RenamedOption{"node-ranks", "ranks-per-node"},
};

/// "--learn is now --loops-learn", if an option had the name `seen` before; empty otherwise. `shape` writes a name as
/// the source of `seen` does.
std::string renamed(std::string_view seen, NameShape shape);

}  // namespace steelyard::base

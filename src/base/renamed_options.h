// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "base/options.h"

// Options whose names have changed, and options that were removed. An old name is refused, and the refusal says what to
// use instead: an option that is silently ignored could let thread counts change where the user had forbidden it.
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
    RenamedOption{"timeline", "timeline-samples"},
    RenamedOption{"domain", "cores-domain"},
    RenamedOption{"broadcast-tree", "collectives-tree"},
    RenamedOption{"broadcast-every", "collectives-tree-every"},
    RenamedOption{"broadcast-threshold", "collectives-tree-threshold"},
    RenamedOption{"verdict", "summary"},
    RenamedOption{"node-ranks", "ranks-per-node"},
};

struct RemovedOption {
  std::string_view name, why_and_instead;  ///< the end of a sentence that begins "NAME was removed: "
};

inline constexpr std::string_view no_gain_from_static_parts =
    "it made no program faster. To let the iterations of a loop move between threads, write schedule(runtime)";
inline constexpr std::array removed_options{
    RemovedOption{"loops-rebalance-static", no_gain_from_static_parts},
    RemovedOption{"loops-reweigh", no_gain_from_static_parts},
};

/// Why the name `seen` is refused: "--learn is now --loops-learn", or "NAME was removed: ...". Empty if no option had
/// this name. `shape` writes a name as the source of `seen` does.
std::string refusal_of_old_name(std::string_view seen, NameShape shape);

}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "loops/loop.h"

namespace steelyard::loops {

/// A loop that teams of this run have executed.
struct Executed {
  std::string key;
  Loop::Repeats repeats;
};

/// What a replay has not repeated, as a sentence for the user. Empty if it has repeated all loops that ran.
/// @param recorded keys of the loops that the file has assignments of
std::string left_out(const std::vector<std::string>& recorded, const std::vector<Executed>& executed);

}  // namespace steelyard::loops

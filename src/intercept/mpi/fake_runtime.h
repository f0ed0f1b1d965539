// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <set>
#include <string>
#include <vector>

#include "session/waits.h"

// A runtime that only notes what the wrappers tell it, and lends nothing.
namespace steelyard::session::fake {

struct Notes {
  std::string language;
  int aborted_with = 0;
  long calls = 0;      ///< BlockingCalls so far
  int open = 0;        ///< of them, those that have not ended
  long passed_on = 0;  ///< RegionCalls so far
  int most_open = 0;
  long pauses = 0;
  long sleeps = 0;  ///< pauses and arrivals at which the runtime might have left the core: no window was alive
  long step_marks = 0;
  long arrivals = 0;  ///< arrive(), over all communicators
  long announcements = 0;
  Dependence dependence = Dependence::none;  ///< of the last arrival
  int root = 0;
  int waited_for = -1;  ///< as the last call said
  long attributed = 0;  ///< calls that said so
  int windows = 0;      ///< alive
  long windows_made = 0;
  std::set<std::uint64_t> sites;
  std::vector<int> members;  ///< of the last communicator that was attached
  int attached = 0;
};

Notes& notes();
/// What measures_this_call() answers between start() and finish().
void measure(bool on);

}  // namespace steelyard::session::fake

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

#include "loops/loop.h"

namespace steelyard::loops {

/// What is said of a loop, from its executions at all thread counts and sizes.
struct Description {
  int threads = 0;            ///< of those executions that took longest; 0: not known
  std::string_view strategy;  ///< in force; empty before the first execution
  std::string reason;         ///< a sentence
  double mean_ns = 0;         ///< of an execution
  double idle = 0;            ///< fraction of its threads' time, lately
  double stolen = 0;          ///< fraction of its iterations that others than their owners ran, lately; 0 in a pool
  /// What it gained over `against`, by the trials of `auto`; empty where nothing was compared.
  std::string against;
  double gain = 0;  ///< fraction of its time that it takes less
  decide::Interval gain_interval = {0, 0};
};
Description describe(const Loop& loop);

}  // namespace steelyard::loops

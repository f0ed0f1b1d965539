// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cli/decision.h"

namespace steelyard::cli {

/// One line of `steelyard doctor`.
struct Finding {
  enum class Level { ok, note, problem };
  Level level = Level::ok;
  std::string text;
};

struct Started;
/// What `steelyard run` would intercept in this program here, what not, and why. It may stand behind wrappers.
std::vector<Finding> examine(const Started& started, const base::Options& options, const Site& site);

/// Prints the findings. Returns 0 if the program would be measured, otherwise 1.
int doctor(const std::vector<std::string>& program, const base::Options& options, const Site& site);

}  // namespace steelyard::cli

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cli/decision.h"

namespace steelyard::cli {

/// Becomes the program. Returns an exit status only where that fails or is refused, having said why.
int run(const std::vector<std::string>& program, base::Options options, const Site& site);

}  // namespace steelyard::cli

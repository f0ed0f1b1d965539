// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "observe/live.h"

namespace steelyard::cli {

/// The jobs in Prometheus' text format, version 0.0.4. Counters are those since MPI_Init. `now`: base::now_ns().
std::string jobs_as_prometheus(const std::vector<observe::LiveView>& jobs, std::int64_t now);

}  // namespace steelyard::cli

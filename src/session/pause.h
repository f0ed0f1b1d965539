// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "base/status.h"
#include "observe/record.h"
#include "observe/totals.h"
#include "session/cpu_use.h"

// Pauses of the measurement (steelyard/regions.h).
namespace steelyard::session {

struct Session;

/// steelyard_pause() and steelyard_resume(), where measures_this_call().
base::Status pause();
base::Status resume();

/// Between steelyard_pause() and steelyard_resume() events are noted as usual, and left out of all figures.
struct Pause {
  std::int64_t begin = 0;  ///< ns; 0: the measurement is not paused
  observe::Totals at_begin;
  CpuUse cpu;                ///< at that time
  observe::Totals left_out;  ///< of the pauses that have ended
};

/// What this process has done until `now`, without pauses.
observe::Totals totals_of(const Session& session, std::int64_t now);
/// Adds the use of cores, and what is told of pauses, to this rank's part of the record.
void contribute_pause(const Session& session, std::int64_t now, observe::Contribution& part);

}  // namespace steelyard::session

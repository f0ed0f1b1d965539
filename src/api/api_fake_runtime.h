// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "observe/phase_record.h"

// A runtime that does as it is told, for the tests of the API alone.
namespace steelyard::api::fake {

inline std::string reason;         ///< what inactive_reason() answers
inline bool in_primary = true;     ///< what measures_this_call() answers
inline std::string regions;        ///< "+a-a()": as region_begins(), region_ends(), pause() and resume() arrived
inline void (*fails)() = nullptr;  ///< called by step() and wait_ends(), to throw
inline int steps = 0;              ///< how often step() arrived
inline int tasks = 0;              ///< executed, as tasks_ended() was told
inline std::string transport;      ///< as tasks_ended() was told
inline int pool_threads = 0;       ///< as pool_runs() was told
inline int shared = 0;             ///< how often work_shared() arrived
inline int idle = 0, quiesced = 0, waits_ended = 0;
inline int phases = 0;               ///< processes, as phases_begin() was told
inline std::vector<int> cpus = {0};  ///< in use
inline std::vector<int> kept;        ///< as return_wanted_cores() was told
inline int holds = 0;                ///< how often hold_begins() arrived
inline std::int64_t held = 0;        ///< as hold_ends() was told
inline observe::PhaseRecord phase;   ///< as phase_left() was told

}  // namespace steelyard::api::fake

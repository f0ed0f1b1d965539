// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "observe/record.h"

namespace steelyard::observe {

/// A warning that threads of the program were ready to run and had no core, with the cause and what to do; empty where
/// that was too short to matter, or is not known. The figures of such a run are not the program's own.
std::string contention(const RunRecord& record);

/// How waiting threads shared the cores of an oversubscribed node; empty where no node was.
std::string yielded(const RunRecord& record);

}  // namespace steelyard::observe

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "observe/named_regions.h"
#include "observe/record.h"

// The program's own regions (steelyard/regions.h).
namespace steelyard::session {

struct Session;

/// steelyard_region_begin() and steelyard_region_end(), where measures_this_call(). The first failure of the process is
/// printed, too.
base::Status region_begins(std::string_view name);
base::Status region_ends(std::string_view name);

/// What a session keeps of them.
struct NamedRegions {
  observe::NamedRegions regions;
  long failures = 0;  ///< calls
  std::string first_failure;
};

/// Adds the named regions to this rank's part of the record, of which `rank` is complete.
void contribute_regions(const Session& session, observe::Contribution& part);

}  // namespace steelyard::session

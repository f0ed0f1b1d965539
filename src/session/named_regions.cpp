// SPDX-License-Identifier: BSD-3-Clause
// steelyard_region_begin() and _end(): what the program measures apart.
#include "session/named_regions.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"
#include "observe/text.h"
#include "session/state.h"

namespace steelyard::session {
namespace {

// A program that ignores the status would believe figures of regions that lack executions.
base::Status noted(NamedRegions& regions, base::Status status) {
  if (!status && regions.failures++ == 0) {
    regions.first_failure = status.sentence();
    base::warn(regions.first_failure);
  }
  return status;
}

}  // namespace

base::Status region_begins(std::string_view name) {
  Session& session = *g_session;
  return noted(session.named, session.named.regions.begin(name, totals_of(session, event_ns())));
}

base::Status region_ends(std::string_view name) {
  Session& session = *g_session;
  return noted(session.named, session.named.regions.end(name, totals_of(session, event_ns())));
}

void contribute_regions(const Session& session, observe::Contribution& part) {
  const NamedRegions& named = session.named;
  part.regions = named.regions.records(part.rank.rank, part.rank.totals);
  if (const std::string open(named.regions.open()); !open.empty()) {
    part.remarks.push_back(
        fmt::format("region '{}' was open at MPI_Finalize, and is measured until then: call steelyard_region_end() "
                    "before",
                    open));
  }
  if (named.failures > 0) {
    part.remarks.push_back(fmt::format("figures of regions are incomplete, as {} failed; the first: {}",
                                       observe::plural(named.failures, "call"), named.first_failure));
  }
}

}  // namespace steelyard::session

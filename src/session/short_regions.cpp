// SPDX-License-Identifier: BSD-3-Clause
#include "session/short_regions.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/options.h"
#include "partition/known_queries.h"
#include "session/other_regions.h"
#include "session/state.h"
#include "session/worksharing.h"

namespace steelyard::session {
namespace {

// Where Steelyard has anything else to do for a region, it is measured.
bool is_short(const Session& session, const observe::Site& site, const RegionRequest& request) {
  const bool has_been_short = site.capacity_ns > 0 && site.mean_ns < kShort && site.own_ns < kShort;
  const bool may_be_virtual = request.may_be_virtual && base::options().virtual_threads > 0;
  if (!has_been_short || may_be_virtual || site.queries == observe::Site::Queries::watched || session.held)
    return false;
  return session.cores == nullptr || session.cores->at_rest();
}

// Of GNU's runtime, which answers to omp_set_num_threads() itself: limits().now is what LLVM's runtime was told.
bool has_one_thread(const Session& session, const RegionRequest& request) {
  if (request.by_clause || session.cores == nullptr) return true;
  return limits().program == 1 && session.cores->threads_at_rest(2) <= 1;
}

}  // namespace

observe::ThreadCell g_no_cell;

bool inactive_region_begin(const RegionRequest& request) {
  Session* const session = g_session;
  if (request.requested != 1 || session == nullptr || !t_primary || in_region()) return false;
  Regions& regions = session->regions;
  if (session->steps.regions_mark || regions.code_generation != partition::code_generation()) return false;
  observe::Site& site = regions.sites.at(request.key());
  if (site.unmeasured_left == 0 || !is_short(*session, site, request) || !has_one_thread(*session, request))
    return false;
  --site.unmeasured_left;
  ++regions.since_call;
  regions.present = &site;
  regions.body = request.body;
  regions.team = 1;
  regions.asked_threads = 0;
  regions.virtual_threads = 0;
  t_state = {&g_no_cell};
  entered(unmeasured_region(), 0, 1);
  regions.begin = event_ns();
  return true;
}

void inactive_region_end() {
  left(0);
  t_state = {};
  Session* const session = g_session;
  if (session == nullptr || session->regions.present == nullptr) return;
  Regions& regions = session->regions;
  observe::Site& site = *std::exchange(regions.present, nullptr);
  const std::int64_t wall = event_ns() - regions.begin;
  const float useful = static_cast<float>(wall) * site.useful_ns / site.capacity_ns;  // see is_short()
  session->activity.inactive_region(wall, static_cast<std::int64_t>(useful));
  site.add(wall);
  site.add_own(wall);
  site.inactive_ns += static_cast<float>(wall);
}

// A random number of executions between two that are measured keeps step with no pattern of the program.
bool measures_threads(Session& session, observe::Site& site, const RegionRequest& request) {
  if (!is_short(session, site, request)) return true;
  if (site.unmeasured_left > 0) {
    --site.unmeasured_left;
    return false;
  }
  session.regions.random = base::spread(session.regions.random + site.address);
  // 0 to 15, and fewer while its means are those of few executions.
  site.unmeasured_left =
      static_cast<std::uint8_t>(std::min<std::uint64_t>(session.regions.random >> 60, site.executions / 8));
  return true;
}

}  // namespace steelyard::session

// SPDX-License-Identifier: BSD-3-Clause
#include "session/virtual_threads.h"

#include <algorithm>

#include "base/options.h"
#include "decide/estimate.h"
#include "loops/policy.h"
#include "partition/known_queries.h"
#include "session/decoding.h"
#include "session/state.h"

namespace steelyard::session {

namespace {
// A chunk is to last as long as the shortest loop in which chunks are taken (ns): some hundred times what it costs to
// begin one.
constexpr float kWorthVirtualThread = loops::Policy::kShort;
constexpr float kVirtualThreads = 16;  // of each thread, at most: the last chunk is then 6 % of its part
// A region that computes longer by this factor runs without them. It is judged after as many executions, of
// which the first half meet cold caches.
constexpr float kTooLong = loops::Policy::kLonger;
constexpr int kJudged = 2 * decide::kFewest;
}  // namespace

int virtual_threads(Session& session, observe::Site& site, int threads, const void* body, std::int64_t now) {
  using Division = observe::Site::Division;
  if (threads < 2 || base::options().loops == base::Strategy::off) return 0;
  if (site.division == Division::seen && !may_decode(session, site, body, now)) {
    session.regions.dependent.see(body, site.own_ns, "has not been analysed: that would exceed --exploration");
  } else if (site.division == Division::seen) {
    const std::string reason = partition::why_not_independent(body);
    site.division = reason.empty() ? Division::independent : Division::whole;
    if (!reason.empty()) session.regions.dependent.see(body, site.own_ns, reason);
  }
  if (site.division != Division::independent) return 0;
  if (const long forced = base::options().virtual_threads; forced > 0) return static_cast<int>(forced) * threads;
  const float worth = site.own_ns / kWorthVirtualThread;  // of each thread
  return static_cast<int>(std::clamp(worth, 1.0F, kVirtualThreads) * static_cast<float>(threads));
}

void learn_virtual_threads(observe::Site& site, std::int64_t busy, int cores) {
  observe::Site::blend(site.divided_ns, busy / std::max(1, cores));
  site.judged = static_cast<std::uint8_t>(std::min(site.judged + 1, kJudged));
  if (site.judged >= kJudged && site.divided_ns > kTooLong * site.own_ns)
    site.division = observe::Site::Division::whole;
}

}  // namespace steelyard::session

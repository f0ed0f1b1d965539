// SPDX-License-Identifier: BSD-3-Clause
#include "session/decoding.h"

#include <algorithm>

#include "base/options.h"
#include "partition/known_queries.h"
#include "session/short_regions.h"
#include "session/state.h"

namespace steelyard::session {

namespace {
// ns, for all processes of a node: what the regions of a small application take, and 1 % of 5 s. A fifth of it
// is lent at once, for a few short regions, and then a tenth of the time: a job of a quarter of a second gains little.
constexpr std::int64_t kLoan = 50'000'000;
}  // namespace

bool may_decode(const Session& session, observe::Site& site, const void* body, std::int64_t now) {
  const bool is_short = site.executions > 0 && site.mean_ns < kShort;
  if (is_short && site.undecoded_left > 0) {
    --site.undecoded_left;
    return false;
  }
  const std::int64_t elapsed = now - session.start.time;
  const double budget = base::options().exploration * static_cast<double>(elapsed);
  const std::int64_t loan = std::clamp(elapsed / 10, kLoan / 5, kLoan);
  const auto suffice = [&](std::int64_t more) {
    return static_cast<double>(partition::decoding_ns() + more) <= budget ||
           partition::decoding_on_node_ns() + more <= loan;
  };
  // The first question is cheap. With another option, no query is decoded.
  const bool may = suffice(0) && (base::options().thread_ids != base::ThreadIds::automatic ||
                                  suffice(partition::expected_decoding_ns(body, kLoan)));
  if (!may && is_short) site.undecoded_left = UINT8_MAX;
  return may;
}

bool decodes_queries(const void* body) {
  return base::options().thread_ids != base::ThreadIds::automatic || partition::claim_decoding(body);
}

}  // namespace steelyard::session

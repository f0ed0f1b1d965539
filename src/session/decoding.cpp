// SPDX-License-Identifier: BSD-3-Clause
#include "session/decoding.h"

#include "base/options.h"
#include "partition/known_queries.h"
#include "session/state.h"

namespace steelyard::session {

namespace {
// ns: what the regions of a small application take, and 1 % of 5 s.
constexpr std::int64_t kLoan = 50'000'000;
}  // namespace

bool may_decode(const Session& session, std::int64_t now) {
  const double since = static_cast<double>(now - session.start.time);
  return static_cast<double>(partition::decoding_ns() - kLoan) <= base::options().exploration * since;
}

}  // namespace steelyard::session

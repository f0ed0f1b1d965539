// SPDX-License-Identifier: BSD-3-Clause
#include "observe/lending.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

/// By the rank on which lending had the largest effect. While it borrowed, the lenders waited for it.
void say_gain_of_lending(const RunRecord& record, Page& page) {
  const auto saved = [](const RankRecord& rank) { return rank.totals.borrowing_own - rank.totals.borrowing_wall; };
  const RankRecord& rank =
      *std::ranges::max_element(record.ranks, {}, [&](const RankRecord& r) { return std::abs(saved(r)); });
  const double own = base::seconds(rank.totals.borrowing_own), with = base::seconds(rank.totals.borrowing_wall);
  if (own == 0) {
    page.say("gain", "of lending: not known; to measure it, use --lending=off", 1);
    return;
  }
  const double share = (own - with) / (record.wall + own - with);
  const std::string gain = own <= with    ? "none"
                           : share < 0.01 ? "under 1 % less time"
                                          : fmt::format("about {} less time", percent(share));
  page.say("gain",
           fmt::format("of lending: {}, estimated: with borrowed cores, regions of rank {} took {} instead of {}", gain,
                       rank.rank, duration(with), duration(own)),
           2);
}

}  // namespace

void say_lending(const RunRecord& record, const Totals& sum, bool alone, Page& page) {
  const Thresholds& thresholds = record.thresholds;
  if (base::seconds(sum.lent) < thresholds.printed_core_time) return;
  const bool were_used = base::seconds(sum.borrowed) >= thresholds.printed_core_time;
  const std::string used =
      were_used ? core_seconds(std::min(sum.lent, sum.borrowed)) + " of that were used by other ranks"
      : sum.borrowed > 0
          ? fmt::format("less than {} core s of that were used by other ranks", thresholds.printed_core_time)
          : "no rank used them";
  const std::string by = base::seconds(sum.lent_by_call) >= thresholds.printed_core_time
                             ? ", " + core_seconds(sum.lent_by_call) + " of it by calls of the program"
                         : sum.gpu > 0 ? " by ranks that waited in MPI or for a GPU"
                                       : " by ranks that waited in MPI";
  page.say("lent", core_seconds(sum.lent) + by + "; " + used, 2);
  if (were_used && alone) say_gain_of_lending(record, page);
}

}  // namespace steelyard::observe

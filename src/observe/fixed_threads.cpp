// SPDX-License-Identifier: BSD-3-Clause
#include "observe/fixed_threads.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/options.h"
#include "base/printable.h"
#include "observe/text.h"

namespace steelyard::observe {

std::string kept_reason(KeptReason reason) {
  if (reason == KeptReason::query_thread_ids) return "regions that query thread IDs kept their thread count";
  return "regions that share out no work by loops, sections or tasks kept their thread count";
}

std::string kept_remark(const RunRecord& record, KeptReason reason) {
  double kept = 0, in_regions = 0;
  std::vector<std::string> names;  // by time
  long regions = 0;
  for (const KeptRegion& region : record.kept_regions) {
    if (region.repeats_work != (reason == KeptReason::repeat_work)) continue;
    ++regions;
    kept += region.time;
    add_new(names, region.function.empty() ? region.site : region.function);
  }
  for (const RankRecord& rank : record.ranks) in_regions += base::seconds(rank.totals.region_wall);
  if (!(kept > kWorthTelling * in_regions)) return "";
  std::string remark =
      fmt::format("{} ({}, {} of the time in regions): {}", kept_reason(reason), plural(regions, "region"),
                  percent(std::min(kept / in_regions, 1.0)), base::first_of(names));
  // The doctor knows no library that an interpreter loads later.
  if (reason == KeptReason::repeat_work || base::options().awaits_mpi) return remark;
  return fmt::format("{}; `steelyard doctor --verbose {}` names the source lines, if compiled with -g", remark,
                     record.command.empty() ? "PROGRAM" : record.command.front());
}

std::string fixed_remark(const std::string& reason) { return reason + ": its thread count was not changed"; }

std::string remark_of(const std::vector<int>& ranks, std::size_t all, const std::string& remark) {
  return ranks.size() == all ? remark : rank_list(ranks) + ": " + remark;
}

bool is_remarked(const RunRecord& record, const std::vector<int>& ranks, const std::string& reason) {
  for (const KeptReason kept : kKeptReasons) {
    if (reason == kept_reason(kept) && !kept_remark(record, kept).empty()) return true;
  }
  return std::ranges::find(record.remarks, remark_of(ranks, record.ranks.size(), fixed_remark(reason))) !=
         record.remarks.end();
}

}  // namespace steelyard::observe

// SPDX-License-Identifier: BSD-3-Clause
#include "observe/other_region_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "observe/text.h"

namespace steelyard::observe {

void add_other_regions(std::vector<OtherRegion>& regions, std::vector<OtherRegion> more) {
  for (OtherRegion& region : more) {
    const auto known = std::ranges::find_if(
        regions, [&](const OtherRegion& r) { return r.site == region.site && r.nested == region.nested; });
    if (known == regions.end()) {
      regions.push_back(std::move(region));
      continue;
    }
    known->ranks += region.ranks;
    known->executions += region.executions;
    known->threads = std::max(known->threads, region.threads);
    known->time += region.time;
    known->useful += region.useful;
    known->imbalance += region.imbalance;
  }
}

std::vector<std::string> other_region_lines(const RunRecord& record) {
  double in_regions = 0;
  for (const RankRecord& rank : record.ranks)
    in_regions += base::seconds(rank.totals.region_useful + rank.totals.omp_imbalance);
  std::vector<std::string> lines;
  for (const bool nested : {true, false}) {
    OtherRegion sum;
    long places = 0;
    for (const OtherRegion& region : record.other_regions) {
      // A nested region of one thread is computing like any other of its outer region.
      if (region.nested != nested || (nested && region.threads < 2)) continue;
      ++places;
      sum.executions += region.executions;
      sum.useful += region.useful;
      sum.imbalance += region.imbalance;
    }
    if (!(sum.useful + sum.imbalance > kWorthTelling * in_regions)) continue;
    const std::string which = plural(places, nested ? "nested region" : "region");
    lines.push_back(fmt::format("{}{}: {:.3g} thread s in {}, load balance {}", which,
                                nested ? "" : " of other threads", sum.useful + sum.imbalance,
                                plural(sum.executions, "execution"), percent(sum.load_balance())));
  }
  return lines;
}

std::string other_region_table(const RunRecord& record) {
  Table table({"region", "in", "begun", "ranks", "executions", "threads", "time s", "useful thread s", "load balance"});
  for (const OtherRegion& region : record.other_regions)
    table.add({region.site, region.function, region.nested ? "in a region" : "by another thread",
               std::to_string(region.ranks), std::to_string(region.executions), std::to_string(region.threads),
               fmt::format("{:.3f}", region.time), fmt::format("{:.3f}", region.useful),
               region.threads > 1 ? percent(region.load_balance(), 1) : ""});
  return "\nNested regions, and regions of other threads\n" + table.text();
}

}  // namespace steelyard::observe

// SPDX-License-Identifier: BSD-3-Clause
#include "observe/region_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "observe/record.h"
#include "observe/text.h"

namespace steelyard::observe {
namespace {

/// Of the rank with most.
std::int64_t executions(const RegionRecord& region) {
  const auto most = std::ranges::max_element(region.ranks, {}, &RegionRank::count);
  return most == region.ranks.end() ? 0 : most->count;
}

std::string of_run(const RegionRecord& region, const RunRecord& record) {
  return percent(record.wall > 0 ? std::min(region.wall / record.wall, 1.0) : 0);
}

std::string line(const RegionRecord& region, const RunRecord& record) {
  const Metrics& m = region.metrics;
  std::string factors = fmt::format("MPI {} x OpenMP {}", percent(m.mpi), percent(m.openmp));
  if (m.gpu < 1) factors += " x GPU " + percent(m.gpu);
  return fmt::format("{}: {} of the run, {}; parallel efficiency {} = {}", region.name, of_run(region, record),
                     plural(executions(region), "execution"), percent(m.parallel), factors);
}

}  // namespace

void add_regions(std::vector<RegionRecord>& regions, std::vector<RegionRecord> more) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < regions.size(); ++i) places[regions[i].name] = i;
  for (RegionRecord& region : more) {
    if (const auto known = places.find(region.name); known != places.end()) {
      std::vector<RegionRank>& ranks = regions[known->second].ranks;
      ranks.insert(ranks.end(), region.ranks.begin(), region.ranks.end());
    } else {
      places[region.name] = regions.size();
      regions.push_back(std::move(region));
    }
  }
}

void derive_regions(RunRecord& record) {
  std::map<int, const RankRecord*> by_rank;
  for (const RankRecord& rank : record.ranks) by_rank[rank.rank] = &rank;
  for (RegionRecord& region : record.regions) {
    std::ranges::stable_sort(region.ranks, {}, &RegionRank::rank);
    std::vector<RankLoad> loads;
    region.wall = 0;
    for (const RegionRank& part : region.ranks) {
      region.wall = std::max(region.wall, base::seconds(part.totals.wall));
      const auto rank = by_rank.find(part.rank);
      if (rank != by_rank.end()) loads.push_back({rank->second->node, rank->second->threads_at_start, part.totals});
    }
    region.metrics = metrics_of(loads, region.wall);
  }
  std::ranges::stable_sort(record.regions, std::greater(), &RegionRecord::wall);
}

std::vector<std::string> region_lines(const RunRecord& record, std::size_t most) {
  const std::vector<RegionRecord>& regions = record.regions;
  std::vector<std::string> lines;
  const std::size_t shown = regions.size() <= most ? regions.size() : most - std::min<std::size_t>(most, 1);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(line(regions[i], record));
  if (shown < regions.size() && most > 0) {
    lines.push_back(fmt::format("{}: see `steelyard report --full`",
                                plural(static_cast<long>(regions.size() - shown), "more region")));
  }
  return lines;
}

std::string region_table(const RunRecord& record) {
  Table table({"region", "ranks", "executions", "time s", "of run", "efficiency", "MPI", "load balance",
               "communication", "OpenMP", "load balance", "scheduling", "serialisation"});
  for (const RegionRecord& region : record.regions) {
    const Metrics& m = region.metrics;
    table.add({region.name, fmt::format("{}", region.ranks.size()), fmt::format("{}", executions(region)),
               fmt::format("{:.3f}", region.wall), of_run(region, record), percent(m.parallel), percent(m.mpi),
               percent(m.load_balance), percent(m.communication), percent(m.openmp), percent(m.omp_load_balance),
               percent(m.omp_scheduling), percent(m.omp_serialisation)});
  }
  return "\nRegions of the program\n" + table.text();
}

}  // namespace steelyard::observe

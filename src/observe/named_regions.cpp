// SPDX-License-Identifier: BSD-3-Clause
#include "observe/named_regions.h"

#include <fmt/format.h>

namespace steelyard::observe {

using base::Code;
using base::Status;

Status NamedRegions::begin(std::string_view name, const Totals& now) {
  if (name.empty() || name.size() > kLongestName) {
    return Status::failure(
        Code::invalid_argument,
        fmt::format("the name of a region has {} bytes: pass one of 1 to {} bytes", name.size(), kLongestName));
  }
  auto region = regions_.find(name);
  if (region == regions_.end()) {
    if (regions_.size() == kMostNames) {
      return Status::failure(Code::out_of_memory,
                             fmt::format("region '{}' is not measured: the program has {} regions already. Use the "
                                         "same name for each execution of a region",
                                         name, kMostNames));
    }
    region = regions_.emplace(name, Sum()).first;
  }
  if (region->second.open) {
    return Status::failure(
        Code::invalid_state,
        fmt::format("region '{}' was begun while it is open; the innermost open region is '{}': end it first", name,
                    open()));
  }
  region->second.open = true;
  open_.push_back({&*region, now});
  return {};
}

Status NamedRegions::misplaced_end(std::string_view name) const {
  if (open_.empty()) {
    return Status::failure(
        Code::invalid_state,
        fmt::format("region '{}' was ended, and no region is open: begin it first, after MPI_Init", name));
  }
  const auto region = regions_.find(name);
  if (region != regions_.end() && region->second.open) {
    return Status::failure(
        Code::invalid_state,
        fmt::format("region '{}' was ended while region '{}', begun inside it, is open: end '{}' first", name, open(),
                    open()));
  }
  return Status::failure(
      Code::invalid_state,
      fmt::format("region '{}' was ended, and is not open; the innermost open region is '{}'", name, open()));
}

Status NamedRegions::end(std::string_view name, const Totals& now) {
  if (open_.empty() || open() != name) return misplaced_end(name);
  const Execution& execution = open_.back();
  Sum& sum = execution.region->second;
  sum.totals += now - execution.at_begin;
  sum.open = false;
  ++sum.count;
  open_.pop_back();
  return {};
}

std::vector<RegionRecord> NamedRegions::records(int rank, const Totals& now) const {
  std::map<std::string_view, RegionRank> ranks;
  for (const auto& [name, sum] : regions_) ranks[name] = {rank, sum.count, sum.totals};
  for (const Execution& execution : open_) {
    RegionRank& part = ranks[execution.region->first];
    part.totals += now - execution.at_begin;
    ++part.count;
  }
  std::vector<RegionRecord> records;
  for (const auto& [name, part] : ranks) records.push_back({std::string(name), 0, {}, {part}});
  return records;
}

}  // namespace steelyard::observe

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "observe/region_record.h"
#include "observe/totals.h"

namespace steelyard::observe {

/// The named regions of one process (steelyard/regions.h): nested strictly, each name open at most once. A failure
/// changes nothing.
class NamedRegions {
 public:
  static constexpr std::size_t kMostNames = 1024;   ///< Size: 0.5 KB of each rank's part of the record are one name's
  static constexpr std::size_t kLongestName = 255;  ///< Size: bytes

  /// @param now what the process has done until now
  base::Status begin(std::string_view name, const Totals& now);
  base::Status end(std::string_view name, const Totals& now);
  /// The innermost open region; "" if none is open.
  std::string_view open() const { return open_.empty() ? std::string_view() : open_.back().region->first; }
  /// What `rank` has done in each region, in the order of the names. Open regions count until `now`.
  std::vector<RegionRecord> records(int rank, const Totals& now) const;

 private:
  struct Sum {
    bool open = false;
    std::int64_t count = 0;
    Totals totals;
  };
  using Regions = std::map<std::string, Sum, std::less<>>;
  struct Execution {
    Regions::value_type* region;
    Totals at_begin;
  };
  base::Status misplaced_end(std::string_view name) const;

  Regions regions_;
  std::vector<Execution> open_;  // the innermost last
};

}  // namespace steelyard::observe

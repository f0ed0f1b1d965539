// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "cores/holding.h"
#include "cores/late_join.h"

// For tests.
namespace steelyard::cores {

/// A node whose processes are played by this program, each with its own view of the same memory.
struct Node {
  /// @param surplus slots without a core, see Holding
  Node(int cores, int processes, const std::vector<int>& owners, int surplus = 0)
      : bytes(CoreTable::footprint(cores, processes) + LateJoin::footprint(processes)), memory(bytes + 64) {
    for (int p = 0; p < processes; ++p) {
      segments.push_back(node::Segment::over(aligned(), bytes));
      tables.push_back(std::make_unique<CoreTable>(*segments.back(), cores, processes, p));
      late_join.push_back(std::make_unique<LateJoin>(*segments.back(), processes, p));
    }
    tables[0]->settle(owners);
    for (auto& table : tables)
      holdings.push_back(std::make_unique<Holding>(*table, std::vector<int>(cores, 0), surplus));
  }
  void* aligned() {
    void* place = memory.data();
    std::size_t space = memory.size();
    return std::align(64, bytes, place, space);
  }
  const std::vector<int>& cores(int process) const { return holdings[process]->cores(); }

  std::size_t bytes;
  std::vector<unsigned char> memory;
  std::vector<std::unique_ptr<node::Segment>> segments;
  std::vector<std::unique_ptr<CoreTable>> tables;
  std::vector<std::unique_ptr<LateJoin>> late_join;
  std::vector<std::unique_ptr<Holding>> holdings;
};

using Cores = std::vector<int>;
constexpr Wait kLong{.until = INT64_MAX};

}  // namespace steelyard::cores

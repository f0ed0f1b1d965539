// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include "tasks/policies/policies.h"

namespace steelyard::tasks {
namespace {

class Random final : public Policy {
 public:
  std::unique_ptr<Overlay> overlay(std::int64_t nodes, int) const override {
    return std::make_unique<CompleteGraph>(nodes);
  }
};

}  // namespace

std::vector<std::int64_t> CompleteGraph::neighbours(std::int64_t vertex) const {
  std::vector<std::int64_t> found;
  for (std::int64_t other = 0; other < size(); ++other) {
    if (other != vertex) found.push_back(other);
  }
  return found;
}

std::int64_t CompleteGraph::slot(std::int64_t from, std::int64_t to) const {
  const std::int64_t way = distance(from, to);
  return 2 * (std::abs(way) - 1) + (way < 0 ? 1 : 0);
}

std::unique_ptr<Policy> random_policy() { return std::make_unique<Random>(); }

}  // namespace steelyard::tasks

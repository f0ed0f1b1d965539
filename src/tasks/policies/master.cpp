// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>

#include "tasks/policies/policies.h"

namespace steelyard::tasks {
namespace {

/// Links vertex 0 with every other.
class Star final : public Overlay {
 public:
  using Overlay::Overlay;
  std::vector<std::int64_t> neighbours(std::int64_t vertex) const override {
    if (vertex != 0) return {0};
    std::vector<std::int64_t> others(static_cast<std::size_t>(size() - 1));
    std::iota(others.begin(), others.end(), 1);
    return others;
  }
  std::int64_t next(std::int64_t from, std::int64_t to) const override { return from == 0 || from == to ? to : 0; }
  std::int64_t slot(std::int64_t from, std::int64_t to) const override { return from == 0 ? to - 1 : 0; }
};

class Master final : public Policy {
 public:
  std::unique_ptr<Overlay> overlay(std::int64_t nodes, int) const override { return std::make_unique<Star>(nodes); }
};

}  // namespace

std::unique_ptr<Policy> master_policy() { return std::make_unique<Master>(); }

}  // namespace steelyard::tasks

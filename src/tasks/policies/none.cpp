// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/policies/policies.h"

namespace steelyard::tasks {
namespace {

class NoMoves final : public Policy {
 public:
  bool moves_tasks() const override { return false; }
};

}  // namespace

std::unique_ptr<Policy> no_moves() { return std::make_unique<NoMoves>(); }

}  // namespace steelyard::tasks

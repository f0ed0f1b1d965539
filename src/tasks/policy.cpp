// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/policy.h"

#include "tasks/plan.h"
#include "tasks/policies/policies.h"
#include "tasks/small_world.h"

namespace steelyard::tasks {

std::unique_ptr<Overlay> Policy::overlay(std::int64_t nodes, int degree) const {
  return std::make_unique<SmallWorld>(nodes, degree);
}

std::size_t Policy::amount(std::size_t available, std::size_t askers, double fraction) const {
  return amount_to_give(available, askers, fraction);
}

std::size_t Policy::degree(const Host&, const std::vector<int>& peers) const { return peers.size(); }

std::unique_ptr<Policy> policy_named(std::string_view name, int degree) {
  if (name == "small-world") return std::make_unique<Policy>();
  if (name == "random") return random_policy();
  if (name == "master") return master_policy();
  if (name == "groups") return groups_policy(degree);
  if (name == "none") return no_moves();
  return nullptr;
}

}  // namespace steelyard::tasks

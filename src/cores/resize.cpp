// SPDX-License-Identifier: BSD-3-Clause
#include "cores/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cores/owners.h"

namespace steelyard::cores {
namespace {

int sum(const std::vector<int>& counts) { return std::accumulate(counts.begin(), counts.end(), 0); }

/// The shares of each domain's processes in its cores; empty if some do not find room there.
std::vector<int> counts_within(const std::vector<int>& domain, const std::vector<int>& capacity,
                               const std::vector<ProcessLoad>& loads) {
  std::vector<int> counts(loads.size());
  for (std::size_t d = 0; d < capacity.size(); ++d) {
    std::vector<ProcessLoad> here;
    for (std::size_t p = 0; p < loads.size(); ++p) {
      if (domain[p] == static_cast<int>(d)) here.push_back(loads[p]);
    }
    const std::vector<int> shares = proportional_counts(here, capacity[d], 0);
    if (sum(shares) > capacity[d]) return {};
    for (std::size_t p = 0, next = 0; p < loads.size(); ++p) {
      if (domain[p] == static_cast<int>(d)) counts[p] = shares[next++];
    }
  }
  return counts;
}

}  // namespace

NodeShape shape_of(const std::vector<int>& owner, const std::vector<bool>& usable, const std::vector<int>& domain,
                   std::size_t processes) {
  NodeShape shape;
  const auto domains = domain.empty() ? 1 : static_cast<std::size_t>(*std::ranges::max_element(domain)) + 1;
  shape.capacity.assign(domains, 0);
  shape.held.assign(processes, std::vector<int>(domains, 0));
  for (std::size_t core = 0; core < owner.size(); ++core) {
    if (!usable[core]) continue;
    ++shape.capacity[static_cast<std::size_t>(domain[core])];
    if (owner[core] >= 0) ++shape.held[static_cast<std::size_t>(owner[core])][static_cast<std::size_t>(domain[core])];
  }
  shape.budget = sum(shape.capacity);
  return shape;
}

std::vector<int> joined_by_core(const std::vector<int>& domain, const NodeShape& shape) {
  const std::vector<int> first = joined_domains(shape);
  std::vector<int> joined = domain;
  for (int& d : joined) d = first[static_cast<std::size_t>(d)];
  return joined;
}

std::string too_few_reason(const std::vector<Claim>& claims, int cores) {
  int least = 0, kept = 0;
  for (const Claim& claim : claims) {
    least += claim.fixed ? std::max(1, claim.cores) : 1;
    kept += claim.fixed ? 1 : 0;
  }
  if (cores >= least) return "";
  const std::string fixed = kept == 0 ? "" : fmt::format(", and the thread counts of {} of them must not change", kept);
  return fmt::format("{} core{} would be left for {} rank{} of this node{}: leave at least {}", cores,
                     cores == 1 ? "" : "s", claims.size(), claims.size() == 1 ? "" : "s", fixed, least);
}

std::vector<int> resized(const std::vector<int>& owner, const std::vector<bool>& usable, const std::vector<int>& domain,
                         const std::vector<Claim>& claims) {
  std::vector<ProcessLoad> loads;
  for (const Claim& claim : claims) {
    const int now = std::max(1, claim.cores);
    loads.push_back(
        {.threads = now, .parallel = double(now), .ceiling = std::max(1, claim.ceiling), .fixed = claim.fixed});
  }
  const std::vector<int> joined = joined_by_core(domain, shape_of(owner, usable, domain, claims.size()));
  const NodeShape whole = shape_of(owner, usable, joined, claims.size());

  Plan plan;
  plan.threads = proportional_counts(loads, whole.budget, 0);
  const Placement placement = place(plan.threads, whole.capacity, whole.held);
  plan.domain = placement.domain;
  if (placement.missing > 0) {
    std::vector<int> within = counts_within(placement.domain, whole.capacity, loads);
    if (sum(within) == sum(plan.threads))
      plan.threads = std::move(within);
    else
      plan.domain.assign(loads.size(), -1);
  }
  return owners_after(owner, usable, joined, plan);
}

}  // namespace steelyard::cores

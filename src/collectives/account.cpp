// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/account.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "collectives/policy.h"
#include "decide/estimate.h"

namespace steelyard::collectives {

void Account::delivered(Operation operation, bool by_library, bool by_tree, std::int64_t late) {
  constexpr std::int64_t kNoise = Settings().threshold;
  observe::Broadcasts& counts = noted(operation).counts;
  ++counts.calls;
  ++(by_library ? counts.library : by_tree ? counts.tree : counts.shared);
  if (late <= kNoise) return;
  ++counts.late;
  counts.behind += base::seconds(late);
}

void Account::left(Operation operation, long observe::Broadcasts::* why, bool noted_before) {
  if (!open_) return;
  if (!noted_before) delivered(operation, true, false, 0);
  ++(noted(operation).counts.*why);
}

void Account::left_to_threads(Operation operation) {
  if (open_) noted(operation).left_to_threads.fetch_add(1, std::memory_order_relaxed);
}

void Account::waited(Operation operation, bool by_library, std::int64_t ns) {
  const double wait = base::seconds(ns);
  Sums& waits = by_library ? noted(operation).library : noted(operation).shared;
  ++waits.count;
  waits.sum += wait;
  waits.squares += wait * wait;
}

void Account::tree(observe::Tree tree) {
  constexpr std::size_t kMost = 16;  // Size: trees in the record
  if (trees_.size() < kMost) trees_.push_back(std::move(tree));
}

observe::Broadcasts Account::of(Operation operation, double confidence) const {
  const Noted& of = noted_[static_cast<std::size_t>(operation)];
  observe::Broadcasts counts = of.counts;
  counts.left_threads = of.left_to_threads.load();
  counts.calls += counts.left_threads;
  counts.library += counts.left_threads;
  const auto sum_up = [confidence](const Sums& waits, long& looks, double& wait, double& low, double& high) {
    looks = waits.count;
    if (waits.count == 0) return;
    const auto count = static_cast<double>(waits.count);
    wait = waits.sum / count;
    // What a single one is worth is not known: as much as itself.
    const double variance = std::max(0.0, waits.squares / count - wait * wait);
    const double half_width =
        waits.count > 1 ? decide::standard_errors(confidence) * std::sqrt(variance / (count - 1)) : wait;
    low = wait - half_width;
    high = wait + half_width;
  };
  sum_up(of.shared, counts.shared_looks, counts.shared_wait, counts.shared_low, counts.shared_high);
  sum_up(of.library, counts.library_looks, counts.library_wait, counts.library_low, counts.library_high);
  return counts;
}

}  // namespace steelyard::collectives

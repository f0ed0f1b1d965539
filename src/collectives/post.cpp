// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/post.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "collectives/tree.h"
#include "decide/estimate.h"

namespace steelyard::collectives {

Post::Post(port::Messages& messages, port::Exchange& world) : messages_(messages), world_(world) {
  sent_.assign(static_cast<std::size_t>(world.size()), 0);
  compare_clocks();
}

// A clock's value is here only after it was read there, so that no round finds an offset that is too small. The first
// round brings all processes together; the others are as fast as messages are.
void Post::compare_clocks() {
  constexpr int kRounds =
      1 + decide::kFewest;  // the first synchronises the processes; the fastest of the others counts
  const auto processes = static_cast<std::size_t>(world_.size());
  std::vector<std::int64_t> ahead(processes, std::numeric_limits<std::int64_t>::max()), theirs(processes);
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t mine = base::now_ns();
    world_.gather(&mine, 1, theirs.data());
    const std::int64_t now = base::now_ns();
    std::ranges::transform(theirs, ahead, ahead.begin(),
                           [&](std::int64_t their, std::int64_t least) { return std::min(least, now - their); });
  }
  const std::int64_t now = base::now_ns();
  for (const std::int64_t ns : ahead) clocks_.emplace_back(ns, now);
}

Post::~Post() {
  const std::int64_t sent = world_.sum_for_this_rank(sent_.data());
  for (Report report; received_ < sent;) {
    messages_.receive_next(kReport, &report, sizeof report);
    deliver(report);
  }
}

bool Post::is_too_high(std::int64_t number) const { return kKinds * (number + 1) > messages_.highest_context(); }

void Post::send(const Report& report, int world_rank, port::Request& request) {
  ++sent_[static_cast<std::size_t>(world_rank)];
  request = messages_.send(world_rank, kReport, &report, sizeof report);
}

void Post::take_reports() {
  for (Report report; messages_.receive_arrived(kReport, &report, sizeof report);) deliver(report);
}

void Post::deliver(const Report& report) {
  ++received_;
  const auto tree = trees_.find(report.tree);
  if (tree != trees_.end()) tree->second->add_report(report);
}

}  // namespace steelyard::collectives

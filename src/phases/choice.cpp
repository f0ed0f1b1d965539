// SPDX-License-Identifier: BSD-3-Clause
#include "phases/choice.h"

#include <algorithm>
#include <limits>

namespace steelyard::phases {

Choice::Choice(std::vector<Configuration> configurations)
    : configurations_(std::move(configurations)),
      times_(configurations_.size()),
      dropped_(configurations_.size(), false),
      settled_(configurations_.size() < 2) {}

void Choice::measured(std::int64_t ns) {
  if (settled_) return;
  // The first run of all touches memory for the first time and says nothing about its configuration.
  if (!warmed_) {
    warmed_ = true;
    return;
  }
  times_[current_].push_back(ns);
  drop_hopeless();
  go_on();
}

std::int64_t Choice::typical(std::size_t configuration) const {
  std::vector<std::int64_t> times = times_[configuration];
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// One run is enough to see that a configuration takes half as long again; closer ones get another.
void Choice::drop_hopeless() {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < configurations_.size(); ++i) {
    if (!dropped_[i] && !times_[i].empty()) best = std::min(best, typical(i));
  }
  for (std::size_t i = 0; i < configurations_.size(); ++i) {
    if (dropped_[i] || times_[i].empty()) continue;
    const std::int64_t fastest = *std::ranges::min_element(times_[i]);
    const std::int64_t margin = times_[i].size() == 1 ? best / 2 : best / 10;
    if (fastest > best + margin) dropped_[i] = true;
  }
}

// The one with the fewest runs is next; when all have had theirs, the fastest stays.
void Choice::go_on() {
  std::size_t next = configurations_.size();
  std::size_t fastest = configurations_.size();
  for (std::size_t i = 0; i < configurations_.size(); ++i) {
    if (dropped_[i]) continue;
    if (times_[i].size() < kRuns && (next == configurations_.size() || times_[i].size() < times_[next].size()))
      next = i;
    if (!times_[i].empty() && (fastest == configurations_.size() || typical(i) < typical(fastest))) fastest = i;
  }
  const auto left = std::ranges::count(dropped_, false);
  settled_ = next == configurations_.size() || (left == 1 && fastest != configurations_.size());
  current_ = settled_ ? fastest : next;
}

}  // namespace steelyard::phases

// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace steelyard::tasks {

std::size_t amount_to_give(std::size_t available, std::size_t askers, double fraction) {
  if (available == 0) return 0;
  const auto share = fraction > 0 ? static_cast<std::size_t>(std::ceil(static_cast<double>(available) * fraction))
                                  : available / (1 + std::max<std::size_t>(askers, 1));
  return std::clamp<std::size_t>(share, 1, available);
}

std::size_t amount_to_keep(std::size_t available, std::int64_t ns_per_task) {
  const auto enough = static_cast<std::size_t>(kPollEvery / std::max<std::int64_t>(ns_per_task, 10));
  return std::min(enough, available / 2);
}

std::size_t amount_ahead(std::int64_t ns_per_task) {
  // An answer may wait for some tasks of the victim and be shared by other workers.
  return static_cast<std::size_t>(std::max(kTogether, kLastPatience / std::max<std::int64_t>(ns_per_task, 10)));
}

Victims::Victims(std::size_t count, std::uint64_t seed) : order_(count), last_giver_(count) {
  std::iota(order_.begin(), order_.end(), 0);
  for (std::size_t left = count; left > 1; --left) {
    std::swap(order_[left - 1], order_[hash(seed * 0x10001 + left) % left]);
  }
}

std::size_t Victims::next() {
  if (asked_++ == 0 && last_giver_ < order_.size()) return last_giver_;
  place_ = (place_ + 1) % order_.size();
  return order_[place_];
}

TerminationRounds::Counts& TerminationRounds::Counts::operator+=(const Counts& other) {
  spawned += other.spawned;
  finished += other.finished;
  leaving += other.leaving;
  leaver = std::max(leaver, other.leaver);
  return *this;
}

TerminationRounds::Outcome TerminationRounds::judge(const Counts& round, std::uint64_t processes) {
  if (round.leaving != 0 && round.leaving != processes) return Outcome::failed;
  const bool over = round.spawned == finished_;
  finished_ = round.finished;
  return over ? Outcome::over : Outcome::again;
}

// The finaliser of splitmix64.
std::uint64_t hash(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace steelyard::tasks

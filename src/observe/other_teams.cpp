// SPDX-License-Identifier: BSD-3-Clause
#include "observe/other_teams.h"

#include <algorithm>

namespace steelyard::observe {

void OtherTeams::begin(const OtherTeam& team) {
  const std::lock_guard lock(mutex_);
  any_.store(true, std::memory_order_relaxed);
  open_.push_back(&team);
  if (!team.nested && running_++ == 0) running_since_ = team.begin;
}

void OtherTeams::end(const OtherTeam& team, std::int64_t now, const TeamParts& parts) {
  const std::lock_guard lock(mutex_);
  std::erase(open_, &team);
  thread_time_ += team.added() * std::max<std::int64_t>(0, now - team.begin);
  ended_ += parts;
  if (team.nested) return;
  ++regions_;
  if (--running_ == 0) other_threads_ += std::max<std::int64_t>(0, now - running_since_);
}

void OtherTeams::add_tasks(std::int64_t tasks) {
  const std::lock_guard lock(mutex_);
  any_.store(true, std::memory_order_relaxed);
  ended_.tasks += tasks;
}

OtherTeams::Reading OtherTeams::at(std::int64_t now) const {
  const std::lock_guard lock(mutex_);
  Reading reading = {thread_time_, other_threads_};
  for (const OtherTeam* team : open_)
    reading.thread_time += team->added() * std::max<std::int64_t>(0, now - team->begin);
  if (running_ > 0) reading.other_threads += std::max<std::int64_t>(0, now - running_since_);
  return reading;
}

void OtherTeams::add_to(Totals& totals, std::int64_t now) const {
  const std::lock_guard lock(mutex_);
  TeamParts parts = ended_;
  for (const OtherTeam* team : open_) {
    const TeamSplit split = split_team(team->cells, team->threads, team->begin, std::max(now, team->begin));
    if (!team->nested) parts += split.first;
    parts += split.others;
  }
  parts.add_to(totals);
  totals.capacity += parts.capacity();
  totals.regions += regions_;
}

}  // namespace steelyard::observe

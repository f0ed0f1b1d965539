// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/missing_ranks.h"

#include <algorithm>

#include "base/complaint.h"

namespace steelyard::tasks {
namespace {

constexpr std::int64_t kEvery = MissingRanks::kEvery;
// In ns. A neighbour that waits looks for messages and answers within kAnswer, even if its node is oversubscribed. It
// is asked so early, after a wait of kAsk, that its answer has arrived before the first warning.
constexpr std::int64_t kAnswer = 15 * kEvery, kAsk = base::kFirstComplaint - kAnswer - 5 * kEvery;

// An entry of ProcessBlock::missing_elsewhere: the run's lowest 16 bits, the rank, and 1 + its rank in MPI_COMM_WORLD,
// in 24 bits each.
std::uint64_t pack(std::uint64_t run, MissingRanks::Absent absent) {
  return (run & 0xffff) << 48 | (static_cast<std::uint64_t>(absent.rank) & 0xffffff) << 24 |
         (static_cast<std::uint64_t>(absent.world + 1) & 0xffffff);
}

void add(MissingRanks::List& to, const MissingRanks::List& more) { to.insert(to.end(), more.begin(), more.end()); }

void tidy(MissingRanks::List& list) {
  std::ranges::sort(list);
  list.erase(std::ranges::unique(list).begin(), list.end());
  if (list.size() > MissingRanks::kMost) list.resize(MissingRanks::kMost);
}

}  // namespace

MissingRanks::MissingRanks(const Arena& arena, int local, const Routes& routes, const Routes::Duties& duties,
                           Sender& sender)
    : arena_(arena), local_(local), routes_(routes), sender_(sender), neighbours_(duties.children) {
  if (duties.parent >= 0) neighbours_.push_back(duties.parent);
}

void MissingRanks::begin(std::uint64_t run) {
  run_ = run;
  announced_ = active_ = late_ = false;
  asked_at_ = -1;
  next_ = 0;
  received_.clear();
  sent_.clear();
  for (const int neighbour : to_answer_) send(neighbour, false);
  to_answer_.clear();
}

void MissingRanks::announce_now() {
  announced_ = true;
  for (const int neighbour : neighbours_) send(neighbour, false);
}

void MissingRanks::send(int neighbour, bool question) {
  List side = side_of(neighbour);
  sender_.send_list(neighbour, question, side);
  sent_[neighbour] = std::move(side);
}

void MissingRanks::received(int from, std::uint64_t run, bool question, const List& absent) {
  last_run_[from] = std::max(last_run_[from], run);
  if (run > run_ && question) to_answer_.insert(from);
  if (run != run_) return;
  received_[from] = absent;
  active_ = active_ || !absent.empty() || question;
  publish();
  if (question) send(from, false);
}

bool MissingRanks::is_silent(int neighbour) const {
  const auto known = last_run_.find(neighbour);
  return late_ && (known == last_run_.end() || known->second < run_);
}

MissingRanks::List MissingRanks::side_of(int neighbour) const {
  List side;
  // Ranks may enter a run at different times: that is no reason for a list until one of them has waited for long.
  if (!active_) return side;
  for (int local = 0; local < arena_.processes(); ++local) {
    const ProcessBlock& process = arena_.process(local);
    if (process.entered.load(std::memory_order_acquire) < run_) {
      side.push_back({process.rank, process.world.load(std::memory_order_relaxed)});
    }
    if (local == local_) continue;
    for (const std::atomic<std::uint64_t>& stored : process.missing_elsewhere) {
      const std::uint64_t entry = stored.load(std::memory_order_relaxed);
      if (entry == 0 || entry >> 48 != (run_ & 0xffff)) continue;
      side.push_back(
          {static_cast<std::int32_t>(entry >> 24 & 0xffffff), static_cast<std::int32_t>(entry & 0xffffff) - 1});
    }
  }
  for (const int other : neighbours_) {
    if (other == neighbour) continue;
    if (is_silent(other)) side.push_back({other, sender_.world_rank(other)});
    if (const auto list = received_.find(other); list != received_.end()) add(side, list->second);
  }
  tidy(side);
  return side;
}

void MissingRanks::publish() const {
  List over_links;
  for (const int neighbour : neighbours_) {
    if (is_silent(neighbour)) over_links.push_back({neighbour, sender_.world_rank(neighbour)});
    if (const auto list = received_.find(neighbour); list != received_.end()) add(over_links, list->second);
  }
  tidy(over_links);
  ProcessBlock& me = arena_.process(local_);
  for (std::size_t i = 0; i < kMost; ++i) {
    me.missing_elsewhere[i].store(i < over_links.size() ? pack(run_, over_links[i]) : 0, std::memory_order_relaxed);
  }
}

std::vector<int> MissingRanks::step(std::int64_t now, std::int64_t waited) {
  if (waited >= kAsk) active_ = true;
  if (!active_ || now < next_) return {};
  next_ = now + kEvery;
  if (waited >= kAsk && asked_at_ < 0) {
    asked_at_ = now;
    for (const int neighbour : neighbours_) {
      if (last_run_[neighbour] < run_) send(neighbour, true);
    }
  }
  late_ = asked_at_ >= 0 && now - asked_at_ >= kAnswer;
  if (late_) publish();
  for (const int neighbour : neighbours_) {
    if (side_of(neighbour) != sent_[neighbour]) send(neighbour, false);
  }
  if (waited < base::kFirstComplaint) return {};
  std::vector<int> missing;
  const int here = routes_.placement().node(arena_.process(local_).rank);
  for (const Absent& absent : side_of(-1)) {
    // Other nodes' lists of ranks of this node may be out of date: the shared memory of this node takes precedence.
    const bool mine = routes_.placement().node(absent.rank) == here;
    if (mine && arena_.process(routes_.placement().local(absent.rank)).entered.load(std::memory_order_acquire) >= run_)
      continue;
    missing.push_back(absent.world);
  }
  std::ranges::sort(missing);
  return missing;
}

}  // namespace steelyard::tasks

// SPDX-License-Identifier: BSD-3-Clause
#include "session/other_regions.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "loops/registry.h"
#include "observe/activity.h"
#include "partition/function_names.h"
#include "session/state.h"
#include "session/worksharing.h"

namespace steelyard::session {

constinit thread_local ThreadState t_state __attribute__((tls_model("initial-exec")));

namespace {

/// One place at which one thread begins such regions. Written by that thread.
struct RegionPlace {
  std::atomic<std::int64_t> executions{0}, wall{0}, useful{0}, imbalance{0};
  std::atomic<int> threads{0};
};

/// By the only thread that writes it.
template <typename Count>
void add(std::atomic<Count>& sum, Count part) {
  sum.store(sum.load(std::memory_order_relaxed) + part, std::memory_order_relaxed);
}

void add(RegionPlace& sum, const RegionPlace& part) {
  add(sum.executions, part.executions.load(std::memory_order_relaxed));
  add(sum.wall, part.wall.load(std::memory_order_relaxed));
  add(sum.useful, part.useful.load(std::memory_order_relaxed));
  add(sum.imbalance, part.imbalance.load(std::memory_order_relaxed));
  sum.threads.store(std::max(sum.threads.load(), part.threads.load(std::memory_order_relaxed)));
}

/// Address of the code, and whether it is nested.
using Key = std::uint64_t;
Key key_of(std::uint64_t address, bool nested) { return address << 1 | (nested ? 1 : 0); }

/// A team, its cells and its record. Never freed: late events of its threads read `number`.
struct Team {
  observe::OtherTeam observed;
  std::unique_ptr<observe::ThreadCell[]> cells;  // while no region uses them, `begin` is 0 in all
  int size = 0;
  std::atomic<std::uint64_t> number{0};  // changes at each begin and end
  Region region;
  ThreadState outer;  // of the thread that has begun it, outside of it
  Team* around = nullptr;
  RegionPlace* place = nullptr;
};

constinit thread_local Team* t_innermost __attribute__((tls_model("initial-exec"))) = nullptr;

using PlacesOfThread = std::unordered_map<Key, RegionPlace>;

/// Never destroyed: threads may be in regions while the process exits.
struct AllThreads {
  std::mutex mutex;
  std::vector<Team*> free;
  std::vector<const PlacesOfThread*> running;  // of threads that have not ended
  PlacesOfThread ended;
};
AllThreads& all_threads() {
  static AllThreads& only = *new AllThreads;
  return only;
}

/// Destructors of the program that run later may begin regions.
constinit thread_local bool t_ended __attribute__((tls_model("initial-exec"))) = false;

/// Of one thread.
class Own {
 public:
  Own() {
    AllThreads& all = all_threads();
    const std::lock_guard lock(all.mutex);
    all.running.push_back(&places_);
  }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;
  ~Own() {
    t_ended = true;
    AllThreads& all = all_threads();
    const std::lock_guard lock(all.mutex);
    for (const auto& [key, place] : places_) add(all.ended[key], place);
    std::erase(all.running, &places_);
    all.free.insert(all.free.end(), free_.begin(), free_.end());
  }

  RegionPlace& place(Key key) {
    const auto known = places_.find(key);
    if (known != places_.end()) return known->second;
    const std::lock_guard lock(all_threads().mutex);
    return places_[key];
  }
  Team& take() {
    if (free_.empty()) {
      AllThreads& all = all_threads();
      const std::lock_guard lock(all.mutex);
      free_.push_back(all.free.empty() ? new Team : all.free.back());
      if (!all.free.empty()) all.free.pop_back();
    }
    Team* const team = free_.back();
    free_.pop_back();
    return *team;
  }
  void give(Team& team) { free_.push_back(&team); }

 private:
  PlacesOfThread places_;
  std::vector<Team*> free_;
};
Own& own() {
  static thread_local Own mine;
  return mine;
}

void give_cells(Team& team, int threads) {
  if (threads <= team.size) return;
  // Late events may still write into the old ones.
  [[maybe_unused]] const observe::ThreadCell* const kept = team.cells.release();
  team.cells = std::make_unique<observe::ThreadCell[]>(static_cast<std::size_t>(threads));
  team.size = threads;
}

/// The time of the thread that has begun a nested region is that of its outer team.
void add_to_outer(observe::ThreadCell& outer, const observe::TeamParts& parts) {
  add(outer.waited, parts.imbalance);
  add(outer.forked, parts.scheduling);
  add(outer.gpu, parts.gpu);
  add(outer.mpi, parts.mpi);
  add(outer.gpu_waits, static_cast<std::int32_t>(parts.gpu_waits));
}

}  // namespace

bool in_other_region() { return t_innermost != nullptr; }

RegionTerms other_region_begin(const RegionRequest& request, std::int64_t now) {
  if (!may_nest() || t_ended) return {};
  Own& mine = own();
  Team& team = mine.take();
  const bool nested = t_state.cell != nullptr;
  const auto body = reinterpret_cast<std::uint64_t>(request.body);
  give_cells(team, std::max(1, request.requested));
  team.observed = {.cells = team.cells.get(), .threads = 0, .begin = now, .nested = nested};
  team.outer = t_state;  // the thread is in the outer region until its part of this one begins
  const bool of_other_thread = !nested || team.outer.of_other_thread;
  team.around = std::exchange(t_innermost, &team);
  team.place = &mine.place(key_of(body != 0 ? body : request.site, nested));
  RegionTerms terms;
  terms.measured = Measured::threads;
  terms.cells = {team.cells.get(), team.size,
                 of_other_thread ? ThreadCells::Team::of_other_thread : ThreadCells::Team::nested,
                 team.number.fetch_add(1, std::memory_order_relaxed) + 1, &team.number};
  terms.record = &team.region;
  return terms;
}

void other_thread_begin(Session& session, const ThreadCells& cells, int thread, int threads, std::int64_t now) {
  Team* const team = t_innermost;
  if (thread == 0 && team != nullptr && cells.current == &team->number) {
    team->observed.threads = std::min(threads, team->size);
    if (team->observed.added() > 0) session.activity.others().begin(team->observed);
  }
  t_state = {thread < cells.count ? cells.first + thread : nullptr, cells.current, cells.region,
             cells.team == ThreadCells::Team::of_other_thread};
  if (t_state.cell != nullptr) observe::Activity::thread_begin(*t_state.cell, now);
}

void other_region_end(std::int64_t now) {
  Team& team = *t_innermost;
  t_innermost = team.around;
  t_state = team.outer;
  team.number.fetch_add(1, std::memory_order_relaxed);
  const observe::OtherTeam& observed = team.observed;
  Session* const session = g_session;
  if (session == nullptr) return;  // finish() may still read the team, which is not used again
  if (observed.threads > 0) {
    now = std::max(now, observed.begin);
    const observe::TeamSplit split = observe::split_team(observed.cells, observed.threads, observed.begin, now);
    observe::TeamParts parts = split.all();
    add(team.place->executions, std::int64_t{1});
    add(team.place->wall, now - observed.begin);
    add(team.place->useful, parts.useful);
    add(team.place->imbalance, parts.imbalance);
    if (observed.threads > team.place->threads.load(std::memory_order_relaxed))
      team.place->threads.store(observed.threads, std::memory_order_relaxed);
    if (observed.nested) {
      observe::ThreadCell* const outer = present_cell();
      if (outer != nullptr && observed.threads > 1) add_to_outer(*outer, split.first);
      parts = split.others;
      parts.tasks += split.first.tasks;
    }
    if (observed.added() > 0)
      session->activity.others().end(observed, now, parts);
    else if (parts.tasks > 0)
      session->activity.others().add_tasks(parts.tasks);
  }
  for (int i = 0; i < observed.threads; ++i) team.cells[i].begin.store(0, std::memory_order_relaxed);
  own().give(team);
}

std::vector<observe::OtherRegion> other_regions() {
  AllThreads& all = all_threads();
  const std::lock_guard lock(all.mutex);
  std::map<Key, RegionPlace> sums;
  for (const auto& [key, place] : all.ended) add(sums[key], place);
  for (const PlacesOfThread* places : all.running) {
    for (const auto& [key, place] : *places) add(sums[key], place);
  }
  std::erase_if(sums, [](const auto& place) { return place.second.executions == 0; });  // still run
  std::vector<std::uint64_t> addresses;
  for (const auto& [key, place] : sums) addresses.push_back(key >> 1);
  const std::vector<std::string> functions = partition::function_names(addresses);
  std::vector<observe::OtherRegion> regions;
  for (const auto& [key, place] : sums) {
    const std::size_t n = regions.size();
    regions.push_back({loops::site_name(addresses[n]), functions[n], (key & 1) != 0, 1,
                       static_cast<long>(place.executions.load()), place.threads.load(),
                       base::seconds(place.wall.load()), base::seconds(place.useful.load()),
                       base::seconds(place.imbalance.load())});
  }
  return regions;
}

}  // namespace steelyard::session

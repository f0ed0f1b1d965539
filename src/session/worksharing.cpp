// SPDX-License-Identifier: BSD-3-Clause
#include "session/worksharing.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/address_cache.h"
#include "base/log.h"
#include "base/options.h"
#include "loops/description.h"
#include "loops/openmp.h"
#include "loops/setup.h"
#include "session/state.h"

namespace steelyard::session {

constinit thread_local Places t_places __attribute__((tls_model("initial-exec")));

struct TeamOfSize {
  TeamOfSize(int count, TeamOfSize* others) : threads(count), team(count), next(others) {}
  const int threads;
  loops::Team team;
  TeamOfSize* const next;
};

/// A loop of the program, by the address that the call which begins it returns to.
struct LoopSite {
  std::uint64_t address = 0;
  std::atomic<loops::Loop*> loop = nullptr;  ///< null while all of its executions were the runtime's
  std::atomic<std::uint64_t> executions = 0, iterations = 0, left = 0;
  std::atomic<std::uint64_t> shrinking = 0;  ///< see set_division()
  std::atomic<Left> reason = Left::other;
};

namespace {

std::atomic<bool> g_on = false;

/// A record for the next outermost region of the primary thread that is measured: no lock is needed for it.
Region* g_spare = nullptr;

/// The record of the primary thread's regions whose threads are not measured. Nothing is written
/// into it from one to the next, so it stays in the caches of all threads.
alignas(64) constinit Region g_unmeasured{Measured::wall, {}, {}, nullptr};

/// Never destroyed: threads may be in regions while the process exits.
struct Shared {
  std::mutex mutex;
  std::vector<Region*> free;
  std::deque<LoopSite> sites;
  std::unordered_map<std::uint64_t, LoopSite*> by_address;
};
Shared& shared() {
  static Shared& only = *new Shared;
  return only;
}

LoopSite& site_at(std::uint64_t address) {
  static constinit thread_local base::AddressCache<LoopSite> known __attribute__((tls_model("initial-exec")));
  return known.at(address, [address]() -> LoopSite& {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    LoopSite*& site = all.by_address[address];
    if (site == nullptr) {
      site = &all.sites.emplace_back();
      site->address = address;
    }
    return *site;
  });
}

loops::Loop& loop_of(LoopSite& site) {
  loops::Loop* loop = site.loop.load(std::memory_order_acquire);
  if (loop == nullptr) {
    loop = &loops::ready_registry().at(site.address);
    site.loop.store(loop, std::memory_order_release);
  }
  return *loop;
}

/// Settles how a loop is divided.
/// @param shrinking the smallest chunk of a loop with a guided schedule; 0 if any division will do
void set_division(LoopSite& site, loops::Loop& loop, std::uint64_t shrinking) {
  if (site.shrinking.load(std::memory_order_acquire) == shrinking) [[likely]]
    return;
  const std::lock_guard lock(shared().mutex);
  if (site.shrinking.load(std::memory_order_relaxed) == shrinking) return;
  loops::Settings settings = loops::registry().defaults();
  if (shrinking > 0) {
    settings.strategy = loops::Strategy::guided;
    settings.chunk = shrinking;
  }
  if (const base::Status status = loop.set(settings); !status) base::warn_once(status.sentence());
  site.shrinking.store(shrinking, std::memory_order_release);
}

loops::Team& team_of(Region& region, int threads) {
  const auto find = [&]() -> TeamOfSize* {
    TeamOfSize* its = region.teams.load(std::memory_order_acquire);
    while (its != nullptr && its->threads != threads) its = its->next;
    return its;
  };
  if (TeamOfSize* const known = find()) return known->team;
  const std::lock_guard lock(shared().mutex);
  if (TeamOfSize* const known = find()) return known->team;
  auto* const made = new TeamOfSize(threads, region.teams.load(std::memory_order_relaxed));
  region.teams.store(made, std::memory_order_release);
  return made->team;
}

}  // namespace

bool takes_loops() { return g_on.load(std::memory_order_relaxed); }

void take_loops() {
  const base::Options& options = base::options();
  if (options.observe || options.loops == base::Strategy::off) return;
  g_on.store(true, std::memory_order_relaxed);
}

Region* unmeasured_region() {
  if (!may_nest()) return nullptr;
  g_unmeasured.run_schedules.reset();
  return &g_unmeasured;
}

Region* region_made(const RegionTerms& terms) {
  if (terms.measured == Measured::wall) return unmeasured_region();
  if (!may_nest()) return nullptr;
  const bool measured = terms.cells.first != nullptr;
  Region* region = terms.record != nullptr ? terms.record : measured ? std::exchange(g_spare, nullptr) : nullptr;
  if (region == nullptr) {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    if (!all.free.empty()) {
      region = all.free.back();
      all.free.pop_back();
    }
  }
  if (region == nullptr) region = new Region;
  region->what = terms.measured;
  region->cells = terms.cells;
  region->run_schedules.reset();
  return region;
}

void region_gone(Region* region) {
  if (region == nullptr || region == &g_unmeasured || region->cells.team != ThreadCells::Team::outermost) return;
  if (region->measured() && g_spare == nullptr) {
    g_spare = region;
    return;
  }
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  all.free.push_back(region);
}

void entered(Region* region, int thread, int threads) {
  // Any thread but the first comes from no other region: what is left here is of a region whose end was not reported.
  if (thread != 0) t_places.depth = 0;
  ++t_places.depth;
  Place* const here = place();
  if (here == nullptr) return;
  here->region = region;
  here->thread = thread;
  here->threads = threads;
  here->loop = Place::Loop::runtimes;
  here->left_next = false;
  here->run_schedules = 0;
  here->member = nullptr;
  here->alone = 0;
}

void left(int thread) {
  if (t_places.depth > 0 && (thread == 0 || t_places.depth == 1)) --t_places.depth;
}

std::optional<Left> reason_to_leave() {
  // A cancelled loop stops in each thread at a cancellation point of that thread; until then, the threads share out
  // what is left. Only the runtime's own chunks give each thread the same iterations to choose from as without
  // Steelyard.
  if (loops::openmp::may_cancel()) return Left::cancellable;
  return std::nullopt;
}

bool loop_begun(std::uint64_t address, const std::optional<loops::Space>& space, std::uint64_t chunk,
                Schedule schedule) {
  Place* const here = place();
  if (here == nullptr) return false;
  worksharing_begun();
  here->loop = Place::Loop::runtimes;
  const bool left_to_runtime = std::exchange(here->left_next, false);
  if (!takes_loops() || here->region == nullptr) return false;
  std::optional<Left> reason = reason_to_leave();
  if (left_to_runtime) reason = Left::ordered;
  if (!reason && !space) reason = Left::other;
  if (reason) {
    loop_left(address, *reason);
    return false;
  }
  chunk = std::max<std::uint64_t>(1, chunk);
  // A user who names a strategy wants it for all loops; no chunk of the program's is cut then.
  const bool shrinking = schedule == Schedule::guided && base::options().loops == base::Strategy::automatic;
  here->loop = Place::Loop::ours;
  here->space = *space;
  here->grain = shrinking ? 1 : chunk;
  here->member = nullptr;
  if (here->threads < 2) {
    here->alone = space->count;
    return true;
  }
  here->member = &team_of(*here->region, here->threads).member(here->thread);
  LoopSite& site = site_at(address);
  loops::Loop& loop = loop_of(site);
  set_division(site, loop, shrinking ? chunk : 0);
  const std::uint64_t grains = space->count / here->grain + (space->count % here->grain != 0);
  if (const base::Status status = here->member->begin(loop, grains, loops::Manner::compiled); !status)
    base::warn_once(status.sentence());
  if (here->member->opened()) {
    site.executions.fetch_add(1, std::memory_order_relaxed);
    site.iterations.fetch_add(space->count, std::memory_order_relaxed);
    if (loops::registry().wants_slack()) loops::registry().executed(loop);
  }
  return true;
}

void loop_left(std::uint64_t address, Left reason) {
  Place* const here = place();
  if (here == nullptr) return;
  worksharing_begun();
  here->loop = Place::Loop::runtimes;
  here->left_next = false;
  if (here->thread != 0 || here->threads < 2 || !takes_loops()) return;
  LoopSite& site = site_at(address);
  site.reason.store(reason, std::memory_order_relaxed);
  site.left.fetch_add(1, std::memory_order_relaxed);
}

void loop_ended(Place& here) {
  here.loop = Place::Loop::over;
  here.alone = 0;
  if (here.member != nullptr) here.member->end();
}

void waited_in_collective(std::int64_t ns) {
  if (loops::registry().wants_slack()) loops::registry().waited(ns);
}

namespace {

std::string_view sentence_of(Left reason) {
  switch (reason) {
    case Left::ordered: return "left to the OpenMP runtime: its iterations depend on each other's order";
    case Left::monotonic: return "left to the OpenMP runtime: compiled for chunks that come in ascending order";
    case Left::cancellable:
      return "left to the OpenMP runtime: OMP_CANCELLATION is true, and a cancelled loop depends on the runtime's "
             "chunks";
    case Left::asked: return "left to the OpenMP runtime: OMP_SCHEDULE or omp_set_schedule asks for static parts";
    default: return "left to the OpenMP runtime: a schedule or bounds that are not taken over";
  }
}

observe::LoopRecord record_of(const std::string& site, const loops::Loop& loop, std::uint64_t executions,
                              std::uint64_t iterations) {
  const auto number = [](std::uint64_t value) { return static_cast<long>(std::min<std::uint64_t>(value, INT64_MAX)); };
  observe::LoopRecord record;
  record.site = site;
  record.executions = number(executions);
  record.iterations = number(iterations);
  loops::Description said = loops::describe(loop);
  record.threads = said.threads;
  record.strategy = said.strategy;
  record.reason = std::move(said.reason);
  record.time = static_cast<double>(executions) * said.mean_ns * 1e-9;
  record.idle = said.idle;
  record.stolen = said.stolen;
  record.against = std::move(said.against);
  record.gain = said.gain;
  record.gain_low = said.gain_interval.low;
  record.gain_high = said.gain_interval.high;
  return record;
}

/// Those that the program divides by calls of its own (steelyard/loops.h).
void add_called_loop_records(std::vector<observe::LoopRecord>& records) {
  for (const loops::Loop* const loop : loops::registry().all()) {
    const loops::Loop::Calls calls = loop->calls();
    if (calls.executions > 0) records.push_back(record_of(loop->key(), *loop, calls.executions, calls.iterations));
  }
}

}  // namespace

std::vector<observe::LoopRecord> loop_records() {
  std::vector<observe::LoopRecord> records;
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  for (const LoopSite& site : all.sites) {
    const std::string place = loops::site_name(site.address);
    const std::uint64_t executions = site.executions.load(std::memory_order_relaxed);
    const std::uint64_t left = site.left.load(std::memory_order_relaxed);
    const loops::Loop* const loop = site.loop.load(std::memory_order_acquire);
    if (loop != nullptr && executions > 0) {
      records.push_back(record_of(place, *loop, executions, site.iterations.load(std::memory_order_relaxed)));
    } else if (left > 0) {
      observe::LoopRecord record;
      record.site = place;
      record.executions = static_cast<long>(left);
      record.strategy = "runtime";
      record.reason = sentence_of(site.reason.load(std::memory_order_relaxed));
      records.push_back(std::move(record));
    }
  }
  add_called_loop_records(records);
  std::ranges::sort(records, {}, &observe::LoopRecord::site);
  return records;
}

}  // namespace steelyard::session

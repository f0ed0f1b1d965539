// SPDX-License-Identifier: BSD-3-Clause
#include "session/openmp.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/counter_clock.h"
#include "base/hash.h"
#include "loops/registry.h"
#include "node/topology.h"
#include "partition/function_names.h"
#include "partition/known_queries.h"
#include "session/state.h"
#include "session/virtual_threads.h"
#include "session/worksharing.h"

namespace steelyard::session {

namespace {

using Queries = observe::Site::Queries;

// A region shorter than this gains nothing by one more thread that must be woken and bound.
constexpr float kWorthBorrowing = 200e3F;

// A rank that is still asleep this long after my own MPI call ended was not waiting for that call.
constexpr std::int64_t kTimeToWake = 200'000;

OpenMp g_openmp;
std::atomic<int (*)()> g_gnu = nullptr;  // omp_get_max_threads() of GNU's OpenMP runtime, if the process has that
ThreadLimits g_limits;

thread_local base::CounterClock t_clock;
thread_local observe::ThreadCell* t_cell = nullptr;
thread_local std::uint64_t t_region = 0;

/// True where Steelyard may change thread counts at all.
bool may_move() { return base::options().cores && !base::options().observe; }

int usable_cores() {
  const node::Topology topology = node::discover();
  return static_cast<int>((base::options().smt ? topology : node::one_pu_per_core(topology)).pus.size());
}

void fix(ThreadLimits::Cause cause, std::string reason) {
  g_limits.reasons[cause] = std::move(reason);
  if (g_session != nullptr) g_session->processes[g_session->me].fixed.store(g_limits.fixed_reason().empty() ? 0 : 1);
}

void set_threads(int count) {
  if (count == g_limits.now) return;
  g_openmp.set_threads(count);
  g_limits.now = count;
}

void decide_limits(int natural) {
  const base::Options& options = base::options();
  g_limits.natural = g_limits.program = g_limits.now = g_limits.ceiling = natural;
  if (!may_move()) return;
  g_limits.ceiling =
      std::max(natural, options.max_threads > 0 ? static_cast<int>(options.max_threads) : usable_cores());
  if (options.thread_local_data == base::ThreadLocalData::keep) {
    fix(ThreadLimits::data, "--thread-local-data=keep keeps the thread count of every rank");
  } else if (options.thread_local_data == base::ThreadLocalData::automatic && options.thread_local_bytes > 0) {
    // OpenMP keeps threadprivate data from region to region only while the number of threads stays the same.
    fix(ThreadLimits::data,
        fmt::format("the program has {} bytes of thread-local data (perhaps threadprivate), which lasts from region to "
                    "region only while the number of threads stays the same",
                    options.thread_local_bytes));
  }
}

bool may_resize_any() { return base::options().thread_ids == base::ThreadIds::resize; }

// A region that queries thread IDs, or that might, keeps the program's count.
bool keeps_count(const observe::Site& site) {
  return !may_resize_any() && (site.executions == 0 || site.queries != Queries::proved);
}

// The program has loaded it after start().
void meet_late_runtime(Session& state) {
  decide_limits(g_gnu.load()());
  state.processes[state.me].thread_ceiling.store(g_limits.ceiling);
}

// True where something follows from what a region asks: to decode all regions of a program takes tens of ms.
bool matters(const Session& state, const observe::Site& site) {
  const base::Options& options = base::options();
  if (options.virtual_threads > 0 || (state.body == nullptr && options.loops_rebalance_static)) return true;
  if (state.cores == nullptr || !state.cores->problem().empty()) return false;
  // Where each process has one core, it only gains those that are lent.
  return state.node_cores > state.count || site.own_ns > kWorthBorrowing;
}

// One call may begin regions with different bodies: a function whose last act it is leaves its caller's address to
// return to.
std::uint64_t key_of(const RegionRequest& request) {
  return (request.site ^ base::spread(reinterpret_cast<std::uint64_t>(request.body))) | 1;
}

ThreadCells cells_of(observe::Activity& activity) { return {activity.cell(0), activity.cells(), activity.region()}; }

// Where most of the time goes by in regions whose size is not ours to choose, other threads would change nothing.
void note_fixed(Session& state, observe::Site& site, std::int64_t wall) {
  const bool overridden = state.asked_threads > 0 && state.team > 1 && state.team != state.asked_threads;
  if (state.by_clause || overridden) {
    state.fixed_wall += wall;
  } else if (site.queries == Queries::unproved && !may_resize_any()) {
    state.asking_wall += wall;
    if (site.kept == 0) {
      const auto body = reinterpret_cast<std::uint64_t>(state.body);
      state.asking.push_back({body != 0 ? body : state.call, 0});
      site.kept = static_cast<std::uint32_t>(state.asking.size());
    }
    state.asking[site.kept - 1].wall += wall;
  }
  const bool mostly = (state.fixed_wall + state.asking_wall) * 2 > state.activity.totals().region_wall;
  std::string& reason = g_limits.reasons[ThreadLimits::regions];
  if (mostly && reason.empty()) {
    fix(ThreadLimits::regions,
        state.fixed_wall > state.asking_wall
            ? fmt::format("the program fixes the thread count of its regions by num_threads({})", state.team)
            : "regions that query thread IDs");
  } else if (!mostly && !reason.empty()) {
    fix(ThreadLimits::regions, "");
  }
}

}  // namespace

const std::string& ThreadLimits::fixed_reason() const {
  const auto* first = std::find_if(reasons.begin(), reasons.end(), [](const std::string& r) { return !r.empty(); });
  return first == reasons.end() ? reasons.front() : *first;
}

ThreadLimits& limits() { return g_limits; }

std::vector<observe::KeptRegion> kept_regions(const Session& state) {
  const std::string& reason = g_limits.fixed_reason();
  const bool other_reason = reason != g_limits.reasons[ThreadLimits::regions] || state.fixed_wall > state.asking_wall;
  if (state.cores == nullptr || (!reason.empty() && other_reason)) return {};
  std::map<std::uint64_t, std::int64_t> walls;  // a body may be begun from several calls
  for (const auto& [place, wall] : state.asking) walls[place] += wall;
  std::vector<std::uint64_t> places;
  for (const auto& [place, wall] : walls) places.push_back(place);
  const std::vector<std::string> functions = partition::function_names(places);
  std::vector<observe::KeptRegion> regions;
  for (std::size_t n = 0; n < places.size(); ++n)
    regions.push_back({loops::site_name(places[n]), functions[n], 1, base::seconds(walls.at(places[n]))});
  return regions;
}

std::string openmp_version() {
  if (g_gnu.load() == nullptr) return g_openmp.version;
  return g_openmp.version.empty() ? "GNU OpenMP" : g_openmp.version + " and GNU OpenMP";
}
constinit thread_local VirtualThread t_virtual;
std::int64_t event_ns() { return t_clock.now(); }
bool in_region() { return t_cell != nullptr; }

void attach_openmp(const OpenMp& openmp) {
  g_openmp = openmp;
  if (g_openmp.max_threads == nullptr || g_openmp.set_threads == nullptr) g_openmp = {};
}

void attach_gnu_openmp(int (*max_threads)()) { g_gnu.store(max_threads); }

void wake_openmp() {
  // Any call makes the OpenMP runtime initialise, which attaches us through OMPT.
  const auto max_threads = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "omp_get_max_threads"));
  if (max_threads == nullptr) return;
  const int threads = max_threads();
  if (g_limits.natural == 0) decide_limits(threads);
  if (g_openmp.set_threads == nullptr && g_gnu.load() == nullptr) {
    fix(ThreadLimits::unseen,
        "its OpenMP runtime has no tools interface (OMPT), or another tool uses it, so its regions are not seen");
  }
}

RegionTerms region_begin(const RegionRequest& request) {
  Session* state = g_session;
  if (state == nullptr || in_region()) return {};
  if (!t_primary) {
    state->foreign_regions.store(true, std::memory_order_relaxed);  // the primary acts on it
    return {};
  }
  const std::int64_t now = event_ns();
  const bool by_clause = request.by_clause, by_argument = request.threads == RegionRequest::Threads::by_argument;
  if (g_limits.natural == 0 && by_argument) meet_late_runtime(*state);
  RegionTerms terms;
  if (const std::uint32_t generation = partition::code_generation(); generation != state->code_generation) {
    state->code_generation = generation;
    state->regions = {};
  }
  observe::Site& site = state->regions.at(key_of(request));
  state->asked_threads = 0;
  state->virtual_threads = 0;
  state->by_clause = by_clause;
  if (state->foreign_regions.load(std::memory_order_relaxed) && g_limits.reasons[ThreadLimits::several_threads].empty())
    fix(ThreadLimits::several_threads, "the program begins parallel regions from several threads");
  if (state->cores != nullptr) {
    const bool keeps = keeps_count(site);
    const cores::Terms lending{.lent_after = now - state->last_call_end > kTimeToWake ? 0 : state->last_call_end,
                               .until = now + static_cast<std::int64_t>(site.mean_ns)};
    const bool may_borrow = !keeps && !by_clause && site.own_ns > kWorthBorrowing;
    // A site that is run several times in a step is another region each time.
    const std::uint64_t key = site.address + (std::uint64_t{++state->regions_since_call} << 48);
    const int held = state->cores->threads_for_region({key, now, may_borrow, lending});
    state->activity.own(state->cores->owned());
    if (!by_clause && (by_argument || g_openmp.set_threads != nullptr)) {
      state->asked_threads = keeps || held == 0 ? g_limits.program : held;
      if (!by_argument)
        set_threads(state->asked_threads);
      else if (state->asked_threads != g_limits.program)
        terms.threads = state->asked_threads;
      if (request.may_be_virtual && held > state->cores->owned())
        state->virtual_threads = virtual_threads(site, held, request.body);
    }
  }
  if (request.may_be_virtual && !by_clause && !base::options().observe && base::options().virtual_threads > 0)
    state->virtual_threads = virtual_threads(site, std::max(request.requested, state->asked_threads), request.body);
  terms.virtual_threads = state->virtual_threads;
  state->region = &site;
  state->call = request.site;
  state->body = request.body;
  if (site.queries == Queries::unknown && matters(*state, site)) site.queries = Queries::watched;
  state->activity.region_begin(now, std::max({request.requested, state->asked_threads, 1}));
  terms.cells = cells_of(state->activity);
  return terms;
}

void region_end() {
  Session* state = g_session;
  t_cell = nullptr;
  if (state == nullptr || state->region == nullptr) return;
  const std::int64_t now = event_ns();
  const observe::LateCores late =
      state->cores != nullptr ? state->cores->after_region(now, state->team, state->activity) : observe::LateCores{};
  std::int64_t busy = 0;
  for (int thread = 0; state->virtual_threads > 0 && thread < std::min(state->team, state->activity.cells()); ++thread)
    busy += state->activity.busy(thread, now);
  if (state->virtual_threads > state->team) state->activity.had_virtual_threads();
  state->activity.region_end(now, state->team, late);
  const std::int64_t wall = state->activity.last_region_wall();
  observe::Site& site = *state->region;
  state->region = nullptr;
  site.add(wall);
  // By what it is without them, not by what they have made of it, a region is judged worth borrowed cores.
  const bool grown = state->cores != nullptr && state->team > state->cores->owned();
  if (!grown) observe::Site::blend(site.own_ns, wall);
  const bool shared = late.with + late.without > 0;  // threads that began without a core have shared those of others
  if (grown && state->virtual_threads > 0 && !shared) learn_virtual_threads(site, busy, state->cores->owned());
  if (state->asked.load(std::memory_order_relaxed)) {
    state->asked.store(false, std::memory_order_relaxed);
    site.queries = Queries::unproved;
  }
  if (site.queries == Queries::watched) {
    // What it has not asked yet, it may ask when it has another number of threads.
    const bool looks = base::options().thread_ids == base::ThreadIds::automatic && state->body != nullptr;
    site.queries = looks && partition::may_ask(state->body) ? Queries::unproved : Queries::proved;
  }
  if (site.division == observe::Site::Division::none && state->divided.load(std::memory_order_relaxed))
    site.division = observe::Site::Division::seen;
  state->divided.store(false, std::memory_order_relaxed);
  if (state->cores != nullptr) note_fixed(*state, site, wall);
  if (state->leader) state->region_period.tick(site.address);
  publish_tick(*state, observe::TickSource::region, now);
}

void thread_begin(const ThreadCells& cells, int thread, int team) {
  Session* state = g_session;
  if (state == nullptr) return;
  t_cell = thread < cells.count ? cells.first + thread : nullptr;
  t_region = cells.region;
  if (thread == 0) state->team = team;
  if (state->cores != nullptr && g_limits.reasons[ThreadLimits::phases].empty()) state->cores->bind_thread(thread);
  if (t_cell != nullptr) observe::Activity::thread_begin(*t_cell, event_ns());
}

namespace {

// The cell of this thread, where its event belongs to the region that runs now. A worker's last events of a region come
// when the next one wakes it.
observe::ThreadCell* present_cell() {
  const Session* state = g_session;
  return state != nullptr && t_cell != nullptr && t_region == state->activity.region() ? t_cell : nullptr;
}

}  // namespace

void thread_end(int thread) {
  observe::ThreadCell* cell = present_cell();
  if (cell != nullptr && thread == 0) observe::Activity::thread_end(*cell, event_ns());
}

// The thread is still in the region: it runs tasks at that barrier.
void thread_done() {
  if (t_cell != nullptr) observe::Activity::barrier_begin(*t_cell, event_ns());
}

bool in_region_reduced_to_one() {
  return t_primary && in_region() && g_session != nullptr && g_session->asked_threads == 1 && g_limits.program > 1;
}

void barrier_begin() {
  if (observe::ThreadCell* cell = present_cell()) observe::Activity::barrier_begin(*cell, event_ns());
}

void barrier_end() {
  if (observe::ThreadCell* cell = present_cell()) observe::Activity::barrier_end(*cell, event_ns());
}

int told_max_threads(int real) {
  if (g_session == nullptr || g_session->cores == nullptr || g_openmp.set_threads == nullptr) return real;
  return t_primary || in_region() ? g_limits.program : real;
}

const VirtualThread* virtual_thread(const void* caller) {
  if (t_virtual.size == 0 || t_virtual.depth != t_places.depth || g_session == nullptr) [[likely]]
    return nullptr;
  return partition::is_proved(caller, g_session->body) ? &t_virtual : nullptr;
}

void team_asked(const void* caller) {
  if (!in_region() || g_session == nullptr || g_session->asked.load(std::memory_order_relaxed)) return;
  const observe::Site* const site = g_session->region;
  if (site == nullptr || site->queries == Queries::unknown || site->queries == Queries::unproved) return;
  const bool looks = caller != nullptr && base::options().thread_ids == base::ThreadIds::automatic;
  if (looks && partition::is_proved(caller, g_session->body)) {
    if (!g_session->divided.load(std::memory_order_relaxed)) g_session->divided.store(true, std::memory_order_relaxed);
    return;
  }
  g_session->asked.store(true, std::memory_order_relaxed);
}

bool threads_set(int count) {
  // Another thread's call is about its own regions, which are none of ours.
  if (!may_move() || in_region() || (g_session != nullptr && !t_primary)) return true;
  if (g_limits.natural == 0) wake_openmp();
  g_limits.program = count;
  // With two runtimes in the process, the call is for the one that was loaded first, and that may be GNU's.
  if (g_gnu.load() == nullptr) g_limits.now = count;
  // As before: omp_set_num_threads(omp_get_max_threads()). --max-threads vouches for any count up to that.
  const bool free = count == g_limits.natural || count <= base::options().max_threads;
  fix(ThreadLimits::set_by_program, free ? "" : fmt::format("the program calls omp_set_num_threads({})", count));
  return true;
}

void put_threads_back() {
  if (g_openmp.set_threads != nullptr) set_threads(g_limits.program);
}

void phases_begin() {
  if (may_move() && g_limits.reasons[ThreadLimits::phases].empty())
    fix(ThreadLimits::phases, "the program binds its threads itself, in phases (steelyard/phases.h)");
}

bool says_nothing(int count) {
  // A count of 1 is also what gcc makes of an if clause that is false: it says that there is to be no team.
  return g_session != nullptr && g_session->cores != nullptr && t_primary && !in_region() &&
         (g_openmp.set_threads != nullptr || g_gnu.load(std::memory_order_relaxed) != nullptr) && count > 1 &&
         count == g_limits.program;
}

}  // namespace steelyard::session

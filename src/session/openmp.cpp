// SPDX-License-Identifier: BSD-3-Clause
#include "session/openmp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/counter_clock.h"
#include "base/hash.h"
#include "base/loaded_library.h"
#include "node/topology.h"
#include "observe/fixed_threads.h"
#include "observe/text.h"
#include "partition/known_queries.h"
#include "session/decoding.h"
#include "session/other_regions.h"
#include "session/short_regions.h"
#include "session/state.h"
#include "session/virtual_threads.h"
#include "session/worksharing.h"
#include "wait/back_off.h"

namespace steelyard::session {

namespace {

using Queries = observe::Site::Queries;
using Work = observe::Site::Work;

// The runtime may initialise in the constructor of another library, before those of this one.
constinit OpenMp g_openmp;
constinit const char* g_openmp_tool = "";  // file of another tool that has OMPT; never freed
std::atomic<int (*)()> g_gnu = nullptr;    // omp_get_max_threads() of GNU's OpenMP runtime, if the process has that
ThreadLimits g_limits;

// An empty region of two threads takes 736 ns with it and 810 ns with now_ns() under gcc, 685 and 760 ns under clang
// (bench/region_cost.c). No difference in examples/cells.c, with one rank or two ranks per core.
thread_local base::CounterClock t_clock;

void set_threads(int count) {
  if (count == g_limits.now) return;
  g_openmp.set_threads(count);
  g_limits.now = count;
}

// OpenMP keeps threadprivate data from region to region only while the number of threads stays the same.
void keep_for_thread_local_data(std::uint64_t bytes) {
  fix_thread_count(
      ThreadLimits::data,
      fmt::format("the program has {} bytes of thread-local data (perhaps threadprivate), which lasts from region to "
                  "region only while the number of threads stays the same",
                  bytes));
}

// `steelyard run` could not read the libraries of a program that loads MPI later, or is started by another one.
void look_for_thread_local_data() {
  static unsigned long long seen = 0;
  const base::Options& options = base::options();
  if (!may_move() || options.thread_local_data != base::ThreadLocalData::automatic) return;
  if (std::exchange(seen, base::loaded_libraries()) == base::loaded_libraries()) return;
  static const bool linked = base::next_definition<void>("omp_get_max_threads") != nullptr;
  if (const std::uint64_t bytes = base::thread_local_bytes(linked); bytes > 0) keep_for_thread_local_data(bytes);
}

void decide_limits(int natural) {
  const base::Options& options = base::options();
  g_limits.natural = g_limits.program = g_limits.now = g_limits.ceiling = natural;
  if (!may_move()) return;
  if (options.awaits_mpi) look_for_thread_local_data();
  if (options.thread_local_data == base::ThreadLocalData::keep) {
    fix_thread_count(ThreadLimits::data, "--thread-local-data=keep keeps the thread count of every rank");
  } else if (options.thread_local_data == base::ThreadLocalData::automatic && options.thread_local_bytes > 0) {
    keep_for_thread_local_data(static_cast<std::uint64_t>(options.thread_local_bytes));
  }
}

bool may_resize_any() { return base::options().thread_ids == base::ThreadIds::resize; }

// A region that queries thread IDs or repeats its work, or that might, keeps the program's count.
bool keeps_count(const observe::Site& site) {
  return !may_resize_any() && (site.executions == 0 || site.queries != Queries::proved || site.work != Work::shared);
}

// A task pool refuses helpers for which it was not made.
int most_threads(const observe::Site& site) {
  return site.pool_threads > 0 ? std::max(g_limits.program, site.pool_threads) : std::numeric_limits<int>::max();
}

// The program has loaded its OpenMP runtime after start(), which shared out the cores without knowing its threads. With
// as many threads as the rank has cores, a team would be smaller than without Steelyard.
void meet_late_runtime(Session& session, bool gnu) {
  decide_limits(gnu ? g_gnu.load()() : g_openmp.max_threads());
  limit_threads(session.topology);
  session.processes[session.me].thread_ceiling.store(g_limits.ceiling);
  const int threads = session.processes[session.me].threads_at_start;
  if (g_limits.natural > threads)
    fix_thread_count(
        ThreadLimits::late,
        fmt::format("its OpenMP runtime, with {} threads, was loaded after MPI_Init: the rank was given {} there",
                    g_limits.natural, observe::plural(threads, "core")));
}

// True where something follows from what a region asks: to decode all regions of a program takes tens of ms.
bool matters(const Session& session, const observe::Site& site) {
  if (base::options().virtual_threads > 0) return true;
  if (session.cores == nullptr || !session.cores->changes_threads()) return false;
  // The other reasons hold whatever regions ask; this one comes and goes with what is known of them.
  const std::string& fixed = g_limits.fixed_reason();
  if (!fixed.empty() && &fixed != &g_limits.reasons[ThreadLimits::regions]) return false;
  // Natively, each process would run a thread on every core of its affinity mask: its share is less.
  if (g_limits.natural > session.cores->owned()) return true;
  // Where each process has one core, it only gains those that are lent.
  return session.node_cores > session.count || site.own_ns > kWorthBorrowing;
}

ThreadCells cells_of(observe::Activity& activity) {
  return {activity.cell(0), activity.cells(), ThreadCells::Team::outermost, activity.region().load(),
          &activity.region()};
}

// A task pool has no use for more cores than it has threads. If a rank gets one of the node's n cores more, its other
// regions take 1 / (threads + 1) less time, and runs of the pool, which all ranks share, 1 / (n - 1) more.
void note_pool(Session& session, const observe::Site& site, std::int64_t wall) {
  Regions& regions = session.regions;
  if (site.pool_threads > 0) {
    regions.pool_wall += wall;
    regions.pool_threads = std::max(regions.pool_threads, site.pool_threads);
  }
  if (regions.pool_threads == 0) return;
  const bool loses = regions.pool_wall * (regions.pool_threads + 1) > regions.elastic_wall * (session.node_cores - 1);
  session.processes[session.me].pool_threads.store(loses ? regions.pool_threads : 0, std::memory_order_relaxed);
}

std::string fixed_reason(Regions::Fixed fixed, int team) {
  if (fixed == Regions::Fixed::no) return "";
  if (fixed == Regions::Fixed::by_queries) return observe::kept_reason(observe::KeptReason::query_thread_ids);
  if (fixed == Regions::Fixed::by_repeated_work) return observe::kept_reason(observe::KeptReason::repeat_work);
  return fmt::format("the program fixes the thread count of its regions by num_threads({}){}", team,
                     team == 1 ? " or an if clause" : "");
}

// Where most of the time goes by in regions whose size is not ours to choose, other threads would change nothing.
// `wall`: without waits for accelerators, which more threads do not shorten.
void note_fixed(Session& session, observe::Site& site, std::int64_t wall) {
  Regions& regions = session.regions;
  wall += static_cast<std::int64_t>(std::exchange(site.inactive_ns, 0.0F));
  regions.wall += wall;
  if (regions.unanalysed) regions.unanalysed_wall += wall;
  const bool overridden = regions.asked_threads > 0 && regions.team > 1 && regions.team != regions.asked_threads;
  if (regions.by_clause || overridden) {
    regions.fixed_wall += wall;
  } else if ((site.queries == Queries::unproved || site.work == Work::repeated) && !may_resize_any()) {
    regions.kept_wall += wall;
    if (site.kept == 0) {
      const auto body = reinterpret_cast<std::uint64_t>(regions.body);
      regions.kept.push_back({body != 0 ? body : regions.call, site.queries != Queries::unproved, 0});
      site.kept = static_cast<std::uint32_t>(regions.kept.size());
    }
    Regions::Kept& kept = regions.kept[site.kept - 1];
    kept.wall += wall;
    if (kept.repeats) regions.repeated_wall += wall;
  } else if (site.pool_threads == 0) {
    regions.elastic_wall += wall;
  }
  note_pool(session, site, wall);
  if (const Regions::Fixed now = regions.fixed(); now != std::exchange(regions.was_fixed, now))
    fix_thread_count(ThreadLimits::regions, fixed_reason(now, regions.team));
}

}  // namespace

const std::string& ThreadLimits::fixed_reason() const {
  const auto* first = std::find_if(reasons.begin(), reasons.end(), [](const std::string& r) { return !r.empty(); });
  return first == reasons.end() ? reasons.front() : *first;
}

ThreadLimits& limits() { return g_limits; }

void fix_thread_count(ThreadLimits::Reason reason, std::string sentence) {
  g_limits.reasons[reason] = std::move(sentence);
  if (g_session != nullptr) g_session->processes[g_session->me].fixed.store(g_limits.fixed_reason().empty() ? 0 : 1);
}

void note_set_by_program(int count) {
  // omp_set_num_threads(omp_get_max_threads()) changes nothing. --max-threads allows any count up to its value.
  const bool free = count == g_limits.natural || count <= base::options().max_threads;
  fix_thread_count(ThreadLimits::set_by_program,
                   free ? "" : fmt::format("the program calls omp_set_num_threads({})", count));
}

// A rank that still waits this long after this rank's MPI call ended was not waiting for that call.
std::int64_t lent_before_call(const Session& session, std::int64_t now) {
  return now - session.waits.last_end > wait::kAtWork ? 0 : session.waits.last_end;
}

std::string openmp_tool() { return g_openmp_tool; }

bool has_openmp() { return !openmp_version().empty() || !g_limits.reasons[ThreadLimits::unseen].empty(); }

std::string openmp_version() {
  std::string version = g_openmp.version;
  if (g_gnu.load() == nullptr) return version;
  return version.empty() ? "GNU OpenMP" : version + " and GNU OpenMP";
}
constinit thread_local VirtualThread t_virtual;
std::int64_t event_ns() { return t_clock.now(); }
bool in_region() { return t_state.cell != nullptr && !t_state.of_other_thread; }

static void note_openmp() {
  if (g_session != nullptr) g_session->processes[g_session->me].no_openmp.store(0);
}

void attach_openmp(const OpenMp& openmp) {
  note_openmp();
  g_openmp = openmp;
  if (g_openmp.max_threads == nullptr || g_openmp.set_threads == nullptr) g_openmp = {};
}

void leave_openmp_to(const std::string& library) { g_openmp_tool = strdup(library.c_str()); }

void attach_gnu_openmp(int (*max_threads)()) {
  note_openmp();
  g_gnu.store(max_threads);
}

void wake_openmp() {
  // Any call makes the OpenMP runtime initialise, which attaches us through OMPT.
  constexpr const char* name = "omp_get_max_threads";
  void* found = base::options().awaits_mpi ? base::next_or_opened(name) : base::next_definition<void>(name);
  const auto max_threads = reinterpret_cast<int (*)()>(found);
  if (max_threads == nullptr) {
    // The program may load a runtime with its libraries, later. Which cores belong to which rank is settled now.
    const auto expected = static_cast<int>(std::min(base::options().expected_threads, 4096L));
    if (expected > 0 && g_limits.natural == 0) decide_limits(expected);
    return;
  }
  const int threads = max_threads();
  if (g_limits.natural == 0) decide_limits(threads);
  if (g_openmp.set_threads == nullptr && g_gnu.load() == nullptr) {
    fix_thread_count(ThreadLimits::unseen,
                     openmp_tool().empty()
                         ? "its OpenMP runtime has no tools interface (OMPT), so its regions are not seen"
                         : openmp_tool() +
                               " uses its OpenMP runtime's tools interface (OMPT), so its regions are "
                               "not seen");
  }
}

void limit_threads(const node::Topology& topology) {
  const base::Options& options = base::options();
  if (g_limits.natural == 0 || !may_move()) return;
  const auto usable = static_cast<long>((options.smt ? topology : node::one_pu_per_core(topology)).pus.size());
  g_limits.ceiling =
      std::max(g_limits.natural, static_cast<int>(options.max_threads > 0 ? options.max_threads : usable));
}

// Regions of other threads use the cores of this process, also while the primary thread waits.
void respect_other_threads(Session& session) {
  if (!session.regions.foreign.load(std::memory_order_relaxed) ||
      !g_limits.reasons[ThreadLimits::several_threads].empty()) [[likely]]
    return;
  fix_thread_count(ThreadLimits::several_threads, "the program begins parallel regions from several threads");
  session.lends = false;
}

// A region is executed for the first time, as far as is known.
void region_met(const RegionRequest& request) {
  partition::follow_code(request.body != nullptr ? reinterpret_cast<std::uint64_t>(request.body) : request.site);
  if (base::options().awaits_mpi) look_for_thread_local_data();
}

RegionTerms region_begin(const RegionRequest& request) {
  Session* session = g_session;
  if (session == nullptr) return {};
  const std::int64_t now = event_ns();
  if (in_region()) return other_region_begin(request, now);
  if (!t_primary) {
    if (!session->regions.foreign.load(std::memory_order_relaxed))
      session->regions.foreign.store(true, std::memory_order_relaxed);  // the primary acts on it
    return other_region_begin(request, now);
  }
  Regions& regions = session->regions;
  const bool by_clause = request.by_clause, by_argument = request.threads == RegionRequest::Threads::by_argument;
  if (g_limits.natural == 0 && (by_argument || g_openmp.max_threads != nullptr))
    meet_late_runtime(*session, by_argument);
  RegionTerms terms;
  if (const std::uint32_t generation = partition::code_generation(); generation != regions.code_generation) {
    regions.code_generation = generation;
    regions.sites = {};
  }
  observe::Site& site = regions.sites.at(request.key());
  if (site.executions == 0) region_met(request);
  regions.asked_threads = 0;
  regions.virtual_threads = 0;
  regions.by_clause = by_clause;
  regions.shares.store(request.shares, std::memory_order_relaxed);
  regions.measured = measures_threads(*session, site, request);
  respect_other_threads(*session);
  if (session->cores != nullptr && !session->held) {
    const bool keeps = keeps_count(site);
    const cores::Terms lending{.lent_after = lent_before_call(*session, now),
                               .until = now + static_cast<std::int64_t>(site.mean_ns)};
    const bool may_borrow = !keeps && !by_clause && site.own_ns > kWorthBorrowing;
    // A site that is run several times in a step is another region each time.
    const std::uint64_t key = site.address + (std::uint64_t{++regions.since_call} << 48);
    const int most = most_threads(site);
    const int held = regions.measured
                         ? session->cores->threads_for_region({key, now, most, may_borrow, site.own_ns, lending})
                         : session->cores->threads_at_rest(most);
    if (regions.measured) session->activity.own(session->cores->owned());
    if (!by_clause && (by_argument || g_openmp.set_threads != nullptr)) {
      regions.asked_threads = keeps || held == 0 ? g_limits.program : held;
      if (!by_argument)
        set_threads(regions.asked_threads);
      else if (regions.asked_threads != g_limits.program)
        terms.threads = regions.asked_threads;
      if (request.may_be_virtual && held > session->cores->owned())
        regions.virtual_threads = virtual_threads(*session, site, held, request.body, now);
    }
  }
  if (request.may_be_virtual && !by_clause && !base::options().observe && base::options().virtual_threads > 0)
    regions.virtual_threads =
        virtual_threads(*session, site, std::max(request.requested, regions.asked_threads), request.body, now);
  terms.virtual_threads = regions.virtual_threads;
  regions.present = &site;
  regions.call = request.site;
  regions.body = request.body;
  // A clause keeps the count, whatever the region queries.
  const bool to_decode = site.queries == Queries::unknown && !by_clause && matters(*session, site);
  const bool has_time = to_decode && may_decode(*session, site, request.body, now);
  regions.unanalysed = to_decode && !has_time && keeps_count(site);
  if (has_time && decodes_queries(request.body)) site.queries = Queries::watched;
  if (!regions.measured) {
    session->activity.unmeasured_region_begin(now);
    terms.measured = Measured::wall;
    return terms;
  }
  terms.measured = Measured::threads;
  session->activity.region_begin(now, std::max({request.requested, regions.asked_threads, 1}));
  terms.cells = cells_of(session->activity);
  return terms;
}

namespace {

// What the threads of the region that has ended have asked, and whether they have shared out work. A loop without
// iterations is not seen; an execution that short has repeated nothing that counts.
// `each`: ns that each thread has computed.
void note_queries(Regions& regions, observe::Site& site, std::int64_t each) {
  if (regions.asked.load(std::memory_order_relaxed)) {
    regions.asked.store(false, std::memory_order_relaxed);
    if (site.queries == Queries::watched) partition::release_decoding(regions.body);
    site.queries = Queries::unproved;
  }
  if (site.queries == Queries::watched) {
    // What it has not asked yet, it may ask when it has another number of threads.
    const bool looks = base::options().thread_ids == base::ThreadIds::automatic && regions.body != nullptr;
    site.queries = looks && partition::has_unproved_query(regions.body) ? Queries::unproved : Queries::proved;
  }
  const bool shares = regions.shares.load(std::memory_order_relaxed);
  const bool tells = shares || static_cast<float>(each) > kShort;
  if (site.queries == Queries::proved && site.work != Work::repeated && tells)
    site.work = shares ? Work::shared : Work::repeated;
  if (shares && site.division == observe::Site::Division::none) site.division = observe::Site::Division::seen;
}

void unmeasured_region_end(Session& session, std::int64_t now) {
  Regions& regions = session.regions;
  observe::Site& site = *regions.present;
  const float scale = site.capacity_ns > 0 ? 1 / site.capacity_ns : 0;
  const int without_core = session.cores != nullptr ? session.cores->threads_without_core(regions.team) : 0;
  session.activity.unmeasured_region_end(now, regions.team, site.useful_ns * scale, site.imbalance_ns * scale,
                                         without_core);
  const std::int64_t wall = session.activity.last_region_wall();
  regions.present = nullptr;
  site.add(wall);
  site.add_own(wall);
  note_queries(regions, site, wall);
  if (session.cores != nullptr) note_fixed(session, site, wall);
  region_ended(session, site.address, now);
}

}  // namespace

void region_end() {
  if (in_other_region()) return other_region_end(event_ns());
  Session* session = g_session;
  t_state = {};
  if (session == nullptr || session->regions.present == nullptr) return;
  Regions& regions = session->regions;
  const std::int64_t now = event_ns();
  if (!regions.measured) return unmeasured_region_end(*session, now);
  const observe::TeamCores cores = session->cores != nullptr && !session->held
                                       ? session->cores->after_region(now, regions.team, session->activity)
                                       : observe::TeamCores{};
  std::int64_t busy = 0;
  for (int thread = 0; regions.virtual_threads > 0 && thread < std::min(regions.team, session->activity.cells());
       ++thread)
    busy += session->activity.busy(thread, now);
  if (regions.virtual_threads > regions.team) session->activity.had_virtual_threads();
  const std::int64_t before = session->activity.totals().region_wall;
  session->activity.region_end(now, regions.team, cores);
  const std::int64_t computed = session->activity.totals().region_wall - before;
  const std::int64_t wall = session->activity.last_region_wall();
  observe::Site& site = *regions.present;
  regions.present = nullptr;
  site.add(wall);
  const observe::TeamTime& time = session->activity.last_team_time();
  if (time.shares_vary)
    site.capacity_ns = 0;  // so the next execution is measured, too
  else
    observe::Site::blend(site.capacity_ns, time.capacity);
  observe::Site::blend(site.useful_ns, time.useful);
  observe::Site::blend(site.imbalance_ns, time.imbalance);
  // Whether a region is worth borrowed cores follows from its time on the rank's own cores.
  const bool grown = session->cores != nullptr && regions.team > session->cores->owned();
  if (!grown) site.add_own(wall);
  // With more threads than cores, the time without depends on how many other ranks compute meanwhile.
  const bool borrows = grown && !session->held && !regions.by_clause && !session->cores->slots();
  if (borrows && site.own_executions == 2)
    session->activity.compared(wall, static_cast<std::int64_t>(site.own_ns), regions.team);
  const bool shared = cores.came_late + cores.without > 0;  // some threads began without a core of their own
  if (grown && regions.virtual_threads > 0 && !shared) learn_virtual_threads(site, busy, session->cores->owned());
  note_queries(regions, site, time.useful / std::max(1, regions.team));
  // In a phase, ranks run other regions than each other.
  if (session->held) return sample(*session, now);
  if (session->cores != nullptr) note_fixed(*session, site, computed);
  region_ended(*session, site.address, now);
}

void thread_begin(const ThreadCells& cells, int thread, int team) {
  Session* session = g_session;
  if (session == nullptr) return;
  if (cells.team != ThreadCells::Team::outermost) return other_thread_begin(*session, cells, thread, team, event_ns());
  const bool measured = cells.first != nullptr;
  t_state = {!measured              ? &g_no_cell
             : thread < cells.count ? cells.first + thread
                                    : nullptr,
             cells.current, cells.region};
  if (thread == 0) {
    session->regions.team = team;
    session->regions.largest_team = std::max(session->regions.largest_team, team);
  }
  if (session->cores != nullptr && !session->held && g_limits.reasons[ThreadLimits::phases].empty())
    session->cores->bind_thread(thread);
  if (measured && t_state.cell != nullptr) observe::Activity::thread_begin(*t_state.cell, event_ns());
}

void thread_end(int thread) {
  observe::ThreadCell* cell = present_cell();
  if (cell != nullptr && thread == 0) observe::Activity::thread_end(*cell, event_ns());
}

// The thread is still in the region: it runs tasks at that barrier.
void thread_done() {
  if (t_state.cell != nullptr) observe::Activity::barrier_begin(*t_state.cell, event_ns());
}

bool in_region_reduced_to_one() {
  return t_primary && in_region() && g_session != nullptr && g_session->regions.asked_threads == 1 &&
         g_limits.program > 1;
}

bool team_is_larger() {
  return g_session != nullptr && in_region() && g_session->regions.asked_threads > limits().program;
}

void barrier_begin() {
  if (observe::ThreadCell* cell = present_cell()) observe::Activity::barrier_begin(*cell, event_ns());
}

void barrier_end() {
  if (observe::ThreadCell* cell = present_cell()) observe::Activity::barrier_end(*cell, event_ns());
}

bool task_begin() {
  observe::ThreadCell* cell = present_cell();
  return cell != nullptr && observe::Activity::task_begin(*cell) && (barrier_end(), true);
}

void task_end(bool waits) {
  if (waits) barrier_begin();
}

void accelerator_waited(std::int64_t length) {
  if (observe::ThreadCell* cell = present_cell()) observe::Activity::gpu_waited(*cell, length);
}

int told_max_threads(int real) {
  if (g_session == nullptr || g_session->cores == nullptr || g_openmp.set_threads == nullptr) return real;
  return t_primary || in_region() ? g_limits.program : real;
}

const VirtualThread* virtual_thread(const void* caller) {
  if (t_virtual.size == 0 || t_virtual.depth != t_places.depth || g_session == nullptr) [[likely]]
    return nullptr;
  return partition::is_proved(caller, g_session->regions.body) ? &t_virtual : nullptr;
}

bool team_asked(const void* caller) {
  if (!in_region() || g_session == nullptr) return false;
  Regions& regions = g_session->regions;
  if (regions.asked.load(std::memory_order_relaxed)) return false;
  const observe::Site* const site = regions.present;
  if (site == nullptr || site->queries == Queries::unknown || site->queries == Queries::unproved) return false;
  const bool looks = caller != nullptr && base::options().thread_ids == base::ThreadIds::automatic;
  if (looks && partition::is_proved(caller, regions.body)) return true;
  regions.asked.store(true, std::memory_order_relaxed);
  return false;
}

void work_shared() {
  const Place* const here = place();
  Session* const session = g_session;
  if (session == nullptr || here == nullptr || here->region == nullptr ||
      here->region->cells.team != ThreadCells::Team::outermost)
    return;
  std::atomic<bool>& shares = session->regions.shares;
  if (!shares.load(std::memory_order_relaxed)) shares.store(true, std::memory_order_relaxed);
}

void threads_set(int count) {
  // Another thread's call sets the count of its own regions, which Steelyard leaves alone.
  if (!may_move() || in_region() || (g_session != nullptr && !t_primary)) return;
  if (g_limits.natural == 0) wake_openmp();
  g_limits.program = count;
  // With two runtimes in the process, the call is for the one that was loaded first, and that may be GNU's.
  if (g_gnu.load() == nullptr) g_limits.now = count;
  if (g_session == nullptr || !g_session->held) note_set_by_program(count);
}

void restore_thread_count() {
  if (g_openmp.set_threads != nullptr) set_threads(g_limits.program);
}

bool is_redundant_clause(int count) {
  // A count of 1 may be a false if clause, as gcc compiles it: the region is to have no team.
  return g_session != nullptr && g_session->cores != nullptr && t_primary && !in_region() &&
         (g_openmp.set_threads != nullptr || g_gnu.load(std::memory_order_relaxed) != nullptr) && count > 1 &&
         count == g_limits.program;
}

}  // namespace steelyard::session

// SPDX-License-Identifier: BSD-3-Clause
#include "session/session.h"

#include <dlfcn.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <set>
#include <span>

#include "base/clock.h"
#include "base/hash.h"
#include "base/loaded_library.h"
#include "base/log.h"
#include "base/whole_file.h"
#include "loops/places.h"
#include "node/binding.h"
#include "node/shared_topology.h"
#include "observe/record.h"
#include "observe/summary.h"
#include "session/capability.h"
#include "session/openmp.h"
#include "session/other_regions.h"
#include "session/state.h"

namespace steelyard::session {

Session* g_session = nullptr;
constinit thread_local bool t_primary = false;

namespace {

using base::now_ns;

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

base::Status problem(Session& session, const char* brief, base::Status status) {
  session.segment_problem_brief = brief;
  return status;
}

// One exchange for all that the ranks have to agree on: bits of the node, and those of each capability.
base::Status agree(Session& session, bool same_cores) {
  constexpr std::uint32_t kSameCores = 1, kRoom = 2;  // Encoding: bits of the node
  node::SharedCpuSet mask;
  const base::Status room = mask.assign(node::mask_at_start());
  std::uint32_t mine = (same_cores ? kSameCores : 0) | (room ? kRoom : 0);
  unsigned shift = 0;
  for (const auto& capability : session.capabilities)
    mine |= capability->wanted(session) << (shift += Capability::kBits);
  const std::uint32_t common = session.bootstrap->common_bits(mine);
  const decide::Settings decision = base::options().decision();
  const bool same_decisions = session.bootstrap->all_equal(
      static_cast<std::uint32_t>(base::spread(base::fnv1a(std::as_bytes(std::span(&decision, 1)))) >> 32));
  if ((common & kRoom) == 0)
    return problem(session, "CPU numbers too high",
                   room ? base::Status::failure(base::Code::peer, node::SharedCpuSet::kNoRoomElsewhere) : room);
  if ((common & kSameCores) == 0)
    return problem(
        session, "different cores",
        base::Status::failure(
            "the cgroups of this node's ranks allow different cores: start all ranks of the node in one cgroup"));
  if (!same_decisions)
    return problem(
        session, "different options",
        base::Status::failure(
            "the ranks have different values of --confidence or --exploration: start all ranks with the same options"));
  std::vector<std::unique_ptr<Capability>> on;
  std::uint32_t bits = common;
  for (auto& capability : session.capabilities) {
    bits >>= Capability::kBits;
    if ((bits & Capability::kOn) == 0) continue;
    capability->agreed(bits, session);
    on.push_back(std::move(capability));
  }
  session.capabilities = std::move(on);
  return {};
}

// One segment for everything that the processes of a node share.
base::Status share_memory(Session& session, bool same_cores) {
  if (base::Status status = agree(session, same_cores); !status) return status;
  const auto count = static_cast<std::size_t>(session.count);
  // The order of the first two is known to `steelyard top`.
  std::vector<node::Footprint> parts = {
      node::footprint_of(session.progress.live, session.count, session.me),
      {.bytes = node::Segment::footprint<node::Process>(count),
       .attach = [&](node::Segment& segment) { session.processes = segment.carve<node::Process>(count); }},
      node::footprint_of(session.arrivals, session.count, session.me),
      node::footprint_of(session.steps.ticks, session.count, session.me)};
  for (const auto& capability : session.capabilities) {
    if (node::Footprint part = capability->footprint(session); part.attach) parts.push_back(std::move(part));
  }
  return node::Segment::create(*session.bootstrap, parts, session.segment);
}

int cores_in_mask(const node::Topology& topology) {
  std::set<int> cores;
  for (const node::Pu& pu : topology.pus) {
    if (topology.emulated || node::mask_at_start().has(pu.os_index)) cores.insert(pu.core);
  }
  return std::max(1, static_cast<int>(cores.size()));
}

void introduce(Session& session) {
  node::Process& self = session.processes[session.me];
  self.world_rank = session.bootstrap->rank();
  const int declared = limits().declared;
  self.threads_at_start = declared > 0 ? declared : declared == 0 ? cores_in_mask(session.topology) : limits().program;
  self.threads_chosen = declared < 0 ? base::options().counts_set : declared > 0;
  (void)self.mask.assign(node::mask_at_start());  // refused in share_memory() already
  self.thread_ceiling.store(limits().ceiling);
  self.fixed.store(limits().fixed_reason().empty() ? 0 : 1);
  self.no_openmp.store(has_openmp() ? 0 : 1);
  self.in_mpi.store(1);  // until start() returns
}

// Without shared memory a process knows of no other.
void stand_alone(Session& session) {
  std::erase_if(session.capabilities,
                [&](const auto& capability) { return capability->footprint(session).attach != nullptr; });
  session.collectives = nullptr;
  session.me = 0;
  session.count = 1;
  session.node_cores = std::max(1, node::mask_at_start().count());
  introduce(session);
}

// Assigns the cores of the node to its processes. Collective over the node.
void settle_cores(Session& session) {
  std::vector<cores::Arrival> arrivals;
  for (int p = 0; p < session.count; ++p) {
    const node::Process& process = session.processes[p];
    arrivals.push_back({process.mask.set(), process.threads_at_start, process.threads_chosen, process.world_rank});
  }
  cores::Owners owners = cores::share_out(session.topology, arrivals);
  session.node_cores = owners.cores;
  if (session.cores == nullptr) return;
  session.cores->settle_owners(std::move(owners), session.leader);
  session.bootstrap->barrier_in_node();
  session.cores->begin();
  // The runtime's guess, all cores for each rank, becomes the rank's share of them.
  session.processes[session.me].threads_at_start = session.cores->owned();
  session.lends = session.cores->lends();
}

// For `steelyard top`.
void show_process(Session& session) {
  observe::LiveProcess& self = session.progress.live->mine();
  self.rank.store(session.bootstrap->rank());
  self.pid.store(getpid());
  self.threads.store(session.processes[session.me].threads_at_start);
  self.owned.store(owned_cores(session));
}

// After all processes of the node have shown themselves.
void show_job(Session& session) {
  observe::LiveJob::Facts job = {};
  job.node = session.bootstrap->node_index();
  job.nodes = session.bootstrap->node_count();
  job.ranks = session.bootstrap->size();
  job.cores = session.node_cores;
  job.start = session.start.time;
  observe::copy_text(job.version, STEELYARD_VERSION);
  observe::copy_text(job.host, host_name());
  observe::copy_text(job.batch_job, base::options().batch_job);
  observe::copy_text(job.command, fmt::format("{}", fmt::join(base::options().command_line(), " ")));
  observe::copy_text(job.immovable_reason, immovable_reason(session));
  job.resizable = session.cores != nullptr && session.cores->resizable() ? 1 : 0;
  if (session.cores != nullptr) {
    session.cores->show_siblings(*session.progress.live);
    session.cores->show_owners(*session.progress.live);
  }
  session.progress.live->open(job);
}

void print_header(const Session& session) {
  const base::Options& options = base::options();
  const int nodes = session.bootstrap->node_count();
  const int ranks = session.bootstrap->node_size();  // not session.count, which is 1 where there is no shared memory
  const int threads = owned_cores(session);
  const std::string openmp = !openmp_version().empty() ? openmp_version()
                             : !openmp_tool().empty()  ? "OpenMP not measured"
                             : options.awaits_mpi      ? "no OpenMP yet"
                                                       : "no OpenMP";
  std::vector<std::string> words;
  if (options.observe) {
    words.emplace_back("only observing");
  } else if (session.cores == nullptr) {
    const bool refused = options.cores != base::Cores::off && !session.segment_problem.empty();
    words.push_back("cores and lending off" + (refused ? fmt::format(" ({})", session.segment_problem_brief) : ""));
  }
  for (const auto& capability : session.capabilities) {
    if (std::string more = capability->header(session); !more.empty()) words.push_back(std::move(more));
  }
  base::print(fmt::format("steelyard {}: {}, {}, {} node{} x {} rank{} x {} thread{} on {}{}; {}", STEELYARD_VERSION,
                          session.bootstrap->library(), openmp, nodes, nodes == 1 ? "" : "s", ranks,
                          ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s", session.topology.summary,
                          session.topology.emulated ? " (emulated)" : "", fmt::join(words, ", ")));
}

std::atomic<bool> g_aborting{false};  // this rank has called MPI_Abort, which has said that there is no record

// Then ends the program as the signal would have done without Steelyard.
void on_ending(int signal) {
  static constexpr std::string_view kText[] = {"stopped by SIGTERM before MPI_Finalize: no run record was written",
                                               "stopped by SIGINT before MPI_Finalize: no run record was written"};
  static std::atomic_flag said;  // a launcher may send both signals
  if (g_session != nullptr && g_session->bootstrap->rank() == 0 && !g_aborting.load() && !said.test_and_set())
    base::say_in_handler({kText[signal == SIGINT ? 1 : 0]});
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void replace_handler(int signal, sighandler_t present, sighandler_t next) {
  struct sigaction action = {};
  if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == present) std::signal(signal, next);
}

void watch_for_ending() {
  replace_handler(SIGTERM, SIG_DFL, on_ending);
  // A Python interpreter that the program starts later makes SIGINT a KeyboardInterrupt only if it finds the default.
  constexpr const char* kPython = "Py_InitializeEx";
  if (dlsym(RTLD_DEFAULT, kPython) == nullptr && base::find_in_libraries(kPython, nullptr) == nullptr)
    replace_handler(SIGINT, SIG_DFL, on_ending);
}

// A child of fork() is another program as far as Steelyard goes: it shares our memory and must not speak for this rank.
void in_child() {
  if (g_session == nullptr) return;
  if (g_session->cores != nullptr) g_session->cores->unbind();
  g_session = nullptr;
  t_primary = false;
  for (const int signal : {SIGTERM, SIGINT}) replace_handler(signal, on_ending, SIG_DFL);
}

__attribute__((destructor)) void at_exit() {
  if (g_session == nullptr || g_aborting.load()) return;
  base::warn("this rank ended without MPI_Finalize: no run record was written");
}

std::vector<std::string> seen_at_work(const Session& session) {
  std::vector<std::string> seen;
  const observe::Totals totals = totals_of(session, base::now_ns());
  if (totals.regions > 0) seen.emplace_back("OpenMP regions");
  if (totals.mpi_calls > 0) seen.emplace_back("MPI (" + session.start.language + ")");
  return seen;
}

std::vector<std::string> remarks(const Session& session) {
  std::vector<std::string> list;
  if (session.sleeps && windows_seen()) {
    list.emplace_back(
        "the program uses one-sided communication: while one of its MPI windows exists, waiting ranks poll and lend no "
        "cores");
  }
  if (!session.segment_problem.empty()) list.push_back(session.segment_problem);
  return list;
}

observe::NodeRecord node_record(const Session& session) {
  observe::NodeRecord node;
  node.index = session.bootstrap->node_index();
  node.host = host_name();
  node.ranks = session.bootstrap->node_size();
  node.topology = session.topology.summary;
  node.emulated = session.topology.emulated;
  node.cores = session.node_cores;
  if (session.cores == nullptr) node.nothing_moved = immovable_reason(session);
  return node;
}

observe::Contribution contribution(Session& session, std::int64_t now) {
  observe::Contribution part;
  observe::RankRecord& rank = part.rank;
  rank.rank = session.bootstrap->rank();
  rank.node = session.bootstrap->node_index();
  rank.pid = getpid();
  rank.totals = totals_of(session, now);
  rank.openmp = rank.totals.regions > 0;
  rank.threads_at_start = session.processes[session.me].threads_at_start;
  rank.threads_at_end = session.cores != nullptr ? session.cores->owned() : rank.threads_at_start;
  // Of all its teams, unless some are not seen.
  const int largest = session.regions.largest_team;
  const bool all_seen = largest > 0 && limits().declared < 0 && limits().reasons[ThreadLimits::unseen].empty() &&
                        !session.regions.foreign.load(std::memory_order_relaxed);
  if (all_seen && largest < rank.threads_at_start && session.segment != nullptr) rank.threads_used = largest;
  rank.thread_ceiling = limits().ceiling;
  rank.fixed_reason = limits().fixed_reason();
  rank.waited_for = session.waits.waited_for;
  rank.timeline = observe::pack(session.progress.timeline->samples());
  part.intercepted = seen_at_work(session);
  part.remarks = remarks(session);
  part.other_regions = other_regions();
  contribute_regions(session, part);
  contribute_pause(session, now, part);
  if (session.leader) part.node.push_back(node_record(session));
  for (const auto& capability : session.capabilities) capability->contribute(session, part);
  return part;
}

void warn_of_record(const std::string& path, int error) {
  base::warn(fmt::format(
      "the run record cannot be written to {}: {}; use --record=PATH with a writable path, or --record=none", path,
      base::json_file_error(error)));
}

// At the start, on rank 0: a run of hours must not end without a record. Returns true if the user has been warned.
bool warn_of_record_at_start(const base::Options& options) {
  if (options.record.empty()) return false;
  const bool own_name = options.record == "auto";
  const std::string& path = own_name ? options.record_if_auto : options.record;
  const int error = own_name ? base::check_free_file(path) : base::check_json_file(path);
  if (error != 0) warn_of_record(path, error);
  return error != 0;
}

// The path, for the summary to name; empty if there is no record.
std::string write_record(const observe::RunRecord& record, const base::Options& options, bool warned) {
  if (options.record.empty()) return {};
  const bool own_name = options.record == "auto";
  std::string path = own_name ? options.record_if_auto : options.record;
  int error = own_name ? base::create_free_file(path) : base::check_json_file(path);
  const bool created = own_name && error == 0;
  if (error == 0) error = base::write_whole_file(path, observe::to_json(record));
  if (error == 0) return path;
  if (created) std::remove(path.c_str());
  if (!warned) warn_of_record(path, error);
  return {};
}

void conclude(Session& session, std::vector<std::string> gathered) {
  std::vector<observe::Contribution> parts;
  for (std::string& bytes : gathered) {
    observe::Contribution part;
    if (const base::Status status = observe::unpack(bytes, part); status) {
      parts.push_back(std::move(part));
    } else {
      base::warn(status.sentence());
    }
    std::string().swap(bytes);
  }
  const base::Options& options = base::options();
  observe::RunRecord record;
  record.version = STEELYARD_VERSION;
  record.started = session.start.date;
  record.command = options.command_line();
  record.options = base::described(options);
  record.mpi = session.bootstrap->library();
  record.openmp = openmp_version();
  record.openmp_tool = openmp_tool();
  record.instrument = session.topology.emulated ? "emulated" : "real";
  record.slurm = {options.slurm_job, options.slurm_step, options.slurm_nodes};
  observe::merge(record, std::move(parts));
  const std::string path = write_record(record, options, session.start.record_refused);
  if (!options.summary) return;
  for (const std::string& line : observe::summary(record, path)) base::print(line);
}

}  // namespace

std::string text_of_option(std::string_view name) { return base::text_of(base::options(), *base::find_option(name)); }

void start(std::unique_ptr<node::Bootstrap> bootstrap, const char* language) {
  auto session = std::make_unique<Session>();
  session->bootstrap = std::move(bootstrap);
  session->start.language = language;
  session->me = session->bootstrap->node_rank();
  session->count = session->bootstrap->node_size();
  session->leader = session->me == 0;
  session->start.date = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
  // Without MPI, each process is a rank 0 of its own.
  if (session->start.language != "none") base::set_log_rank(session->bootstrap->rank());
  wake_openmp();
  const base::Options& options = base::options();
  node::SharedTopology machine = node::discover_in_node(*session->bootstrap);
  session->topology = std::move(machine.topology);
  limit_threads(session->topology);
  loops::know_machine(session->topology);
  session->progress.timeline = std::make_unique<observe::Timeline>(static_cast<int>(options.timeline_samples));
  for (const auto make : {make_cores, make_loops, make_collectives}) session->capabilities.push_back(make());
  if (base::Status status = share_memory(*session, machine.same); status) {
    introduce(*session);
    session->bootstrap->barrier_in_node();
    settle_cores(*session);
    show_process(*session);
    // The ranks of an emulated node share their cores with those of the others.
    const bool shared = session->count > 1 || options.ranks_per_node > 0;
    session->sleeps = options.wait == base::Wait::sleep && !options.observe && shared;
  } else {
    session->segment_problem = status.sentence();
    if (session->bootstrap->rank() == 0) base::warn(session->segment_problem);
    stand_alone(*session);
  }
  t_primary = true;
  if (session->bootstrap->rank() == 0) {
    print_header(*session);
    session->start.record_refused = warn_of_record_at_start(options);
  }
  watch_for_ending();
  pthread_atfork(nullptr, nullptr, in_child);
  session->bootstrap->barrier_in_node();
  session->start.cpu = cpu_use();
  session->start.time = now_ns();
  if (session->leader && session->segment != nullptr) show_job(*session);
  // Threads that are not OpenMP's are not measured.
  const bool measured = limits().declared < 0 || limits().natural > 0;
  const int threads = !measured ? 1 : owned_cores(*session);
  session->activity.start(session->start.time, threads);
  session->processes[session->me].in_mpi.store(0);
  g_session = session.release();
}

void finish() {
  Session* session = g_session;
  if (session == nullptr) return;
  restore_thread_count();
  const std::int64_t now = now_ns();
  if (session->cores != nullptr) {
    if (!session->held) session->cores->before_call(now);
    session->cores->unbind();
  }
  g_session = nullptr;  // from here on the program's calls go straight through
  session->processes[session->me].finished.store(1);
  if (session->cores != nullptr) session->cores->lend(now, {.until = INT64_MAX});
  std::vector<std::string> gathered = session->bootstrap->gather(observe::pack(contribution(*session, now)));
  if (session->bootstrap->rank() == 0) conclude(*session, std::move(gathered));
  // Threads of the program may still read the session in an event: it stays until the process ends.
  session->bootstrap.reset();
}

// From any thread: the primary thread may be inside a call, so the session stays.
void aborting(int code) {
  if (g_session == nullptr || g_aborting.exchange(true)) return;
  base::warn(fmt::format("the program calls MPI_Abort({}): no run record is written", code));
}

std::string inactive_reason() {
  return g_session != nullptr ? "" : "MPI_Init has not been called yet, or MPI_Finalize has";
}

}  // namespace steelyard::session

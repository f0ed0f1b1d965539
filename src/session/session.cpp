// SPDX-License-Identifier: BSD-3-Clause
#include "session/session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <set>

#include "base/clock.h"
#include "base/log.h"
#include "base/whole_file.h"
#include "loops/places.h"
#include "loops/setup.h"
#include "node/binding.h"
#include "observe/record.h"
#include "observe/summary.h"
#include "session/openmp.h"
#include "session/state.h"
#include "session/static_loops.h"
#include "session/worksharing.h"

namespace steelyard::session {

Session* g_session = nullptr;
constinit thread_local bool t_primary = false;

namespace {

using base::now_ns;

node::Level level_of(base::CoresDomain domain) {
  switch (domain) {
    case base::CoresDomain::node: return node::Level::node;
    case base::CoresDomain::numa: return node::Level::numa;
    case base::CoresDomain::l3: return node::Level::l3;
    default: return node::Level::package;  // as the paper
  }
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

CpuUse cpu_use() {
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_nivcsw};
}

// One segment for everything that the processes of a node share.
base::Status share_memory(Session& state) {
  const int pus = static_cast<int>(state.topology.pus.size());
  // The leader's sizes rule: where the processes see different ones, none goes on.
  int sizes[2] = {state.count, pus};
  state.bootstrap->broadcast_in_node(sizes, sizeof(sizes));
  const base::Collectives asked = base::options().observe ? base::Collectives::off : base::options().collectives;
  const bool broadcasts = state.bootstrap->all_agree(asked != base::Collectives::off && state.bootstrap->size() > 1);
  const bool compares = asked == base::Collectives::automatic;
  state.takes_every_broadcast = state.bootstrap->all_agree(compares || asked == base::Collectives::on);
  state.compares_broadcasts = state.bootstrap->all_agree(compares);
  state.plants_trees = state.bootstrap->all_agree(base::options().collectives_tree != base::CollectivesTree::library);
  const std::size_t bytes =
      observe::LiveBoard::footprint(state.count) + node::Segment::footprint<node::Process>(state.count) +
      node::Arrivals::footprint(state.count) + observe::TickBoard::footprint(state.count) +
      cores::Cores::footprint(sizes[1], state.count) + (broadcasts ? collectives::Boards::footprint(state.count) : 0);
  const std::size_t spare = broadcasts ? collectives::Boards::spare() : 0;
  if (base::Status status = node::Segment::create(*state.bootstrap, bytes, spare, state.segment); !status)
    return status;
  // The order of the first two is known to `steelyard top`.
  state.live = std::make_unique<observe::LiveBoard>(*state.segment, state.count, state.me);
  state.processes = state.segment->carve<node::Process>(state.count);
  state.arrivals = std::make_unique<node::Arrivals>(*state.segment, state.count, state.me);
  state.ticks = std::make_unique<observe::TickBoard>(*state.segment, state.count, state.me);
  if (broadcasts) state.boards = std::make_unique<collectives::Boards>(*state.segment, state.count, state.me);
  state.collectives.open(broadcasts);
  node::SharedCpuSet mask;
  const base::Status room = mask.assign(node::mask_at_start());
  if (!state.bootstrap->all_agree(sizes[1] == pus && room)) {
    if (!state.bootstrap->all_agree(static_cast<bool>(room)))
      return room ? base::Status::failure(base::Code::peer, node::SharedCpuSet::kNoRoomElsewhere) : room;
    return base::Status::failure("the ranks of a node see different numbers of cores: give them all the same cgroup");
  }
  return {};
}

void introduce(Session& state) {
  node::Process& self = state.processes[state.me];
  self.world_rank = state.bootstrap->rank();
  self.threads_at_start = limits().program;
  self.threads_chosen = base::options().counts_set;
  (void)self.mask.assign(node::mask_at_start());  // refused in share_memory() already
  self.thread_ceiling.store(limits().ceiling);
  self.fixed.store(limits().fixed_reason().empty() ? 0 : 1);
  self.in_mpi.store(1);  // until start() returns
}

// Without shared memory a process knows of no other.
void weigh_alone(Session& state) {
  state.boards.reset();
  state.collectives.open(false);
  state.takes_every_broadcast = state.compares_broadcasts = false;
  state.arrivals.reset();
  state.ticks.reset();
  state.live.reset();
  state.segment.reset();
  state.processes = &state.alone;
  state.me = 0;
  state.count = 1;
  state.node_cores = std::max(1, node::mask_at_start().count());
  introduce(state);
}

void create_cores(Session& state) {
  const base::Options& options = base::options();
  std::vector<cores::Arrival> arrivals;
  for (int p = 0; p < state.count; ++p) {
    const node::Process& process = state.processes[p];
    arrivals.push_back({process.mask.set(), process.threads_at_start, process.threads_chosen, process.world_rank});
  }
  cores::Homes homes = cores::share_out(state.topology, arrivals);
  state.node_cores = homes.cores;
  cores::Options chosen;
  const bool moves = options.cores && !options.observe;
  chosen.lend = options.lending && moves && options.wait == base::Wait::sleep;
  chosen.level = level_of(options.cores_domain);
  chosen.policy.every = static_cast<int>(options.balance_every);
  chosen.policy.at = static_cast<int>(options.balance_at);
  if (!moves) return;
  state.cores = std::make_unique<cores::Cores>(*state.segment, state.processes, state.count, state.me, state.topology,
                                               std::move(homes), chosen);
  if (state.leader) state.cores->settle_homes();
  state.bootstrap->barrier_in_node();
  state.cores->begin();
  state.lends = state.cores->lends();
}

std::string nothing_moves(const Session& state) {
  if (state.cores != nullptr) return state.cores->problem();
  return base::options().observe    ? "only observing (--observe)"
         : state.language == "none" ? "the program uses no MPI, so there is no other rank to exchange cores with"
                                    : "switched off (--cores=off)";
}

// For `steelyard top`.
void open_live_board(Session& state) {
  observe::LiveProcess& self = state.live->mine();
  self.rank.store(state.bootstrap->rank());
  self.pid.store(getpid());
  self.threads.store(state.processes[state.me].threads_at_start);
  self.cores.store(state.cores != nullptr ? state.cores->owned() : limits().program);
  state.bootstrap->barrier_in_node();
  if (!state.leader) return;
  observe::LiveJob::Facts job = {};
  job.node = state.bootstrap->node_index();
  job.nodes = state.bootstrap->node_count();
  job.ranks = state.bootstrap->size();
  job.cores = state.node_cores;
  job.start = now_ns();
  observe::copy_text(job.version, STEELYARD_VERSION);
  observe::copy_text(job.host, host_name());
  observe::copy_text(job.command, fmt::format("{}", fmt::join(base::options().command_line(), " ")));
  observe::copy_text(job.nothing_moves, nothing_moves(state));
  state.live->open(job);
}

/// Why lending is off where nobody has asked for that.
std::string no_lending(const Session& state) {
  const base::Options& options = base::options();
  if (!options.lending) return "";
  if (options.wait != base::Wait::sleep) return " (--wait=poll)";
  if (!state.segment_problem.empty()) return " (no shared memory)";
  if (state.count == 1) return " (one rank on the node)";
  return fmt::format(" ({})", state.cores->problem());
}

void print_banner(const Session& state) {
  const base::Options& options = base::options();
  const int nodes = state.bootstrap->node_count();
  const int ranks = state.bootstrap->node_size();  // not state.count, which is 1 where there is no shared memory
  const std::string cores = options.observe  ? "only observing"
                            : !options.cores ? "cores and lending off"
                            : state.lends    ? "cores on, lending on"
                                             : "cores on, lending off" + no_lending(state);
  const auto told = [&](const char* option) { return base::text_of(options, *base::find_option(option)); };
  std::string more = takes_loops() ? ", loops " + told("loops") : "";
  if (options.loops_rebalance_static) more += ", static loops rebalanced";
  const char* const whose = takes_loops() ? "" : " (only loops that call steelyard)";
  if (!options.loops_learn.empty()) more += ", learns in " + options.loops_learn + whose;
  if (!options.loops_replay.empty()) more += ", replays " + options.loops_replay + whose;
  if (state.boards != nullptr) more += ", collectives " + told("collectives");
  base::print(fmt::format("steelyard {}: {}, {}, {} node{} x {} rank{} x {} thread{} on {}{}; {}{}", STEELYARD_VERSION,
                          state.bootstrap->library(), openmp_version().empty() ? "no OpenMP" : openmp_version(), nodes,
                          nodes == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s", limits().program,
                          limits().program == 1 ? "" : "s", state.topology.summary,
                          state.topology.emulated ? " (emulated)" : "", cores, more));
}

// A handler may only write(2); the program's end is then what it would have been.
void on_terminate(int signal) {
  static constexpr char kText[] = "steelyard: stopped by SIGTERM before MPI_Finalize: no run record was written\n";
  if (g_session != nullptr && g_session->bootstrap->rank() == 0) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void watch_for_termination() {
  struct sigaction present = {};
  if (sigaction(SIGTERM, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) std::signal(SIGTERM, on_terminate);
}

std::atomic<bool> g_aborting{false};

// A child of fork() is another program as far as Steelyard goes: it shares our memory and must not speak for this rank.
void in_child() {
  if (g_session == nullptr) return;
  if (g_session->cores != nullptr) g_session->cores->unbind();
  g_session = nullptr;
  t_primary = false;
  struct sigaction present = {};
  if (sigaction(SIGTERM, nullptr, &present) == 0 && present.sa_handler == on_terminate) std::signal(SIGTERM, SIG_DFL);
}

__attribute__((destructor)) void at_exit() {
  if (g_session == nullptr || g_aborting.load()) return;
  base::warn("this rank ended without MPI_Finalize: no run record was written");
}

std::vector<std::string> seen_at_work(const Session& state) {
  std::vector<std::string> seen;
  const observe::Totals& totals = state.activity.totals();
  if (totals.regions > 0) seen.emplace_back("OpenMP regions");
  if (totals.mpi_calls > 0) seen.emplace_back("MPI (" + state.language + ")");
  return seen;
}

std::vector<std::string> remarks(const Session& state, bool tells_regions) {
  std::vector<std::string> list;
  const ThreadLimits& limit = limits();
  if (state.sleeps && windows_seen()) {
    list.emplace_back(
        "the program uses one-sided communication: while one of its MPI windows exists, waiting ranks poll and lend no "
        "cores");
  }
  if (!state.segment_problem.empty()) list.push_back(state.segment_problem);
  if (base::options().loops_rebalance_static && !static_loops_seen()) {
    list.emplace_back(
        "--loops-rebalance-static found no static loop that it can change: gcc's loops do not call the OpenMP "
        "runtime, and "
        "regions that query thread IDs keep their division");
  }
  if (base::options().virtual_threads > 1 && !base::options().observe && state.activity.totals().virtual_regions == 0) {
    list.emplace_back(
        "--virtual-threads found no suitable region: it needs static loops compiled by gcc, threads that do not wait "
        "for each "
        "other, and regions that run at least twice");
  }
  if (state.cores != nullptr && state.cores->paused_borrowing()) {
    list.emplace_back(
        "stopped borrowing cores at times: other programs or the owners kept these cores busy, which delayed parallel "
        "regions; request exclusive nodes");
  }
  if (std::string left_out = loops::left_out_of_replay(); !left_out.empty()) list.push_back(std::move(left_out));
  if (base::options().collectives == base::Collectives::called && !base::options().observe &&
      !state.called_broadcasts) {
    list.emplace_back(
        "--collectives=called, but the program never called steelyard_bcast(): the MPI library handled its broadcasts");
  }
  // Regions that query thread IDs are told of by merge(), for all ranks at once.
  if (state.cores != nullptr && !limit.fixed_reason().empty() && !tells_regions)
    list.push_back(limit.fixed_reason() + ": its thread count was not changed");
  return list;
}

observe::Contribution contribution(Session& state, std::int64_t now) {
  observe::Contribution part;
  observe::RankRecord& rank = part.rank;
  rank.rank = state.bootstrap->rank();
  rank.node = state.bootstrap->node_index();
  rank.pid = getpid();
  rank.totals = state.activity.totals_at(now);
  rank.openmp = rank.totals.regions > 0;
  rank.threads_at_start = state.processes[state.me].threads_at_start;
  rank.threads_at_end = state.cores != nullptr ? state.cores->owned() : rank.threads_at_start;
  rank.thread_ceiling = limits().ceiling;
  rank.fixed_reason = limits().fixed_reason();
  rank.waited_for = state.waited_for;
  const CpuUse cpu = cpu_use();
  rank.cpu = cpu.seconds - state.cpu_at_start.seconds;
  rank.preempted = cpu.preempted - state.cpu_at_start.preempted;
  rank.timeline = observe::pack(state.timeline->samples());
  part.loops = loop_records();
  rank.broadcasts = state.collectives.of(collectives::Operation::broadcast);
  rank.scatters = state.collectives.of(collectives::Operation::scatter);
  part.intercepted = seen_at_work(state);
  part.kept_regions = kept_regions(state);
  part.remarks = remarks(state, !part.kept_regions.empty());
  part.tasks = state.tasks;
  part.trees = state.collectives.trees();
  for (observe::TasksRecord& tasks : part.tasks) tasks.rank = rank.rank;
  if (!state.leader) return part;
  observe::NodeRecord node;
  node.index = rank.node;
  node.host = host_name();
  node.ranks = state.bootstrap->node_size();
  node.topology = state.topology.summary;
  node.emulated = state.topology.emulated;
  node.cores = state.node_cores;
  if (state.cores != nullptr) {
    state.cores->report(node, part.decisions);
  } else {
    node.nothing_moved = !state.segment_problem.empty() ? state.segment_problem : nothing_moves(state);
  }
  part.node.push_back(std::move(node));
  return part;
}

// The path, for the verdict to name; "" where there is no record.
std::string write_record(const observe::RunRecord& record, const std::string& path) {
  if (path.empty()) return {};
  const int error = base::write_whole_file(path, observe::to_json(record));
  if (error == 0) return path;
  base::warn(fmt::format(
      "the run record could not be written to {}: {}; use --record=PATH with a writable path, or --record=none", path,
      std::strerror(error)));
  return {};
}

void conclude(Session& state, std::vector<std::string> gathered) {
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
  record.started = state.started;
  record.command = options.command_line();
  record.options = base::described(options);
  record.mpi = state.bootstrap->library();
  record.openmp = openmp_version();
  record.instrument = state.topology.emulated ? "emulated" : "real";
  record.slurm = {options.slurm_job, options.slurm_step, options.slurm_nodes};
  observe::merge(record, std::move(parts));
  const std::string path = write_record(record, options.record);
  if (!options.summary) return;
  for (const std::string& line : observe::summary(record, path)) base::print(line);
}

}  // namespace

void start(std::unique_ptr<node::Bootstrap> bootstrap, const char* language) {
  auto state = std::make_unique<Session>();
  state->bootstrap = std::move(bootstrap);
  state->language = language;
  state->me = state->bootstrap->node_rank();
  state->count = state->bootstrap->node_size();
  state->leader = state->me == 0;
  state->started = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
  base::set_log_rank(state->bootstrap->rank());
  wake_openmp();
  const base::Options& options = base::options();
  state->topology = node::discover();
  loops::know_machine(state->topology);
  state->timeline = std::make_unique<observe::Timeline>(static_cast<int>(options.timeline_samples));
  if (base::Status status = share_memory(*state); status) {
    introduce(*state);
    state->bootstrap->barrier_in_node();
    create_cores(*state);
    open_live_board(*state);
    // The ranks of an emulated node share their cores with those of the others.
    const bool shared = state->count > 1 || options.ranks_per_node > 0;
    state->sleeps = options.wait == base::Wait::sleep && !options.observe && shared;
  } else {
    state->segment_problem = status.sentence();
    if (state->bootstrap->rank() == 0) base::warn(state->segment_problem);
    weigh_alone(*state);
  }
  t_primary = true;
  if (state->bootstrap->rank() == 0) print_banner(*state);
  watch_for_termination();
  pthread_atfork(nullptr, nullptr, in_child);
  state->bootstrap->barrier_in_node();
  state->cpu_at_start = cpu_use();
  state->start = now_ns();
  state->activity.start(state->start, state->cores != nullptr ? state->cores->owned() : limits().program);
  state->processes[state->me].in_mpi.store(0);
  g_session = state.release();
}

void finish() {
  Session* state = g_session;
  if (state == nullptr) return;
  put_threads_back();
  if (state->cores != nullptr) state->cores->unbind();
  g_session = nullptr;  // from here on the program's calls go straight through
  const std::int64_t now = now_ns();
  state->processes[state->me].finished.store(1);
  if (state->cores != nullptr) state->cores->lend(now, {.until = INT64_MAX});
  std::vector<std::string> gathered = state->bootstrap->gather(observe::pack(contribution(*state, now)));
  if (state->bootstrap->rank() == 0) conclude(*state, std::move(gathered));
  // Threads of the program may still be inside of an event that looks at the state: it is left to the end of the
  // process.
  state->bootstrap.reset();
}

// From any thread: the primary may be in the midst of a call, so the state stays.
void aborting(int code) {
  if (g_session == nullptr || g_aborting.exchange(true)) return;
  base::warn(fmt::format("the program calls MPI_Abort({}): no run record is written", code));
}

void tasks_ended(const observe::TasksRecord& pool) {
  if (g_session == nullptr) return;
  if (g_session->tasks.empty()) g_session->tasks.emplace_back();
  g_session->tasks.front() += pool;
}

std::string inactive_reason() {
  return g_session != nullptr ? "" : "MPI_Init has not been called yet, or MPI_Finalize has";
}

}  // namespace steelyard::session

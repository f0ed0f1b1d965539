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
base::Status share_memory(Session& session) {
  const int pus = static_cast<int>(session.topology.pus.size());
  // The leader's sizes rule: where the processes see different ones, none goes on.
  int sizes[2] = {session.count, pus};
  session.bootstrap->broadcast_in_node(sizes, sizeof(sizes));
  const base::Collectives asked = base::options().observe ? base::Collectives::off : base::options().collectives;
  const bool broadcasts =
      session.bootstrap->all_agree(asked != base::Collectives::off && session.bootstrap->size() > 1);
  const bool compares = asked == base::Collectives::automatic;
  session.takes_every_broadcast = session.bootstrap->all_agree(compares || asked == base::Collectives::on);
  session.compares_broadcasts = session.bootstrap->all_agree(compares);
  session.plants_trees =
      session.bootstrap->all_agree(base::options().collectives_tree != base::CollectivesTree::library);
  const bool moves = base::options().cores && !base::options().observe;
  session.moves_cores = session.bootstrap->all_agree(moves);
  const std::size_t bytes = observe::LiveBoard::footprint(session.count) +
                            node::Segment::footprint<node::Process>(session.count) +
                            node::Arrivals::footprint(session.count) + observe::TickBoard::footprint(session.count) +
                            (session.moves_cores ? cores::Cores::footprint(sizes[1], session.count) : 0) +
                            (broadcasts ? collectives::Boards::footprint(session.count) : 0);
  const std::size_t spare = broadcasts ? collectives::Boards::spare() : 0;
  if (base::Status status = node::Segment::create(*session.bootstrap, bytes, spare, session.segment); !status)
    return status;
  // The order of the first two is known to `steelyard top`.
  session.progress.live = std::make_unique<observe::LiveBoard>(*session.segment, session.count, session.me);
  session.processes = session.segment->carve<node::Process>(session.count);
  session.arrivals = std::make_unique<node::Arrivals>(*session.segment, session.count, session.me);
  session.steps.ticks = std::make_unique<observe::TickBoard>(*session.segment, session.count, session.me);
  if (broadcasts) session.boards = std::make_unique<collectives::Boards>(*session.segment, session.count, session.me);
  session.collectives.open(broadcasts);
  node::SharedCpuSet mask;
  const base::Status room = mask.assign(node::mask_at_start());
  if (!session.bootstrap->all_agree(sizes[1] == pus && room)) {
    if (!session.bootstrap->all_agree(static_cast<bool>(room)))
      return room ? base::Status::failure(base::Code::peer, node::SharedCpuSet::kNoRoomElsewhere) : room;
    return base::Status::failure("the ranks of a node see different numbers of cores: give them all the same cgroup");
  }
  return {};
}

void introduce(Session& session) {
  node::Process& self = session.processes[session.me];
  self.world_rank = session.bootstrap->rank();
  self.threads_at_start = limits().program;
  self.threads_chosen = base::options().counts_set;
  (void)self.mask.assign(node::mask_at_start());  // refused in share_memory() already
  self.thread_ceiling.store(limits().ceiling);
  self.fixed.store(limits().fixed_reason().empty() ? 0 : 1);
  self.in_mpi.store(1);  // until start() returns
}

// Without shared memory a process knows of no other.
void weigh_alone(Session& session) {
  session.boards.reset();
  session.collectives.open(false);
  session.takes_every_broadcast = session.compares_broadcasts = false;
  session.arrivals.reset();
  session.steps.ticks.reset();
  session.progress.live.reset();
  session.segment.reset();
  session.processes = &session.alone;
  session.me = 0;
  session.count = 1;
  session.node_cores = std::max(1, node::mask_at_start().count());
  introduce(session);
}

void create_cores(Session& session) {
  const base::Options& options = base::options();
  std::vector<cores::Arrival> arrivals;
  for (int p = 0; p < session.count; ++p) {
    const node::Process& process = session.processes[p];
    arrivals.push_back({process.mask.set(), process.threads_at_start, process.threads_chosen, process.world_rank});
  }
  cores::Homes homes = cores::share_out(session.topology, arrivals);
  session.node_cores = homes.cores;
  cores::Options chosen;
  chosen.lend = options.lending && options.wait == base::Wait::sleep;
  chosen.level = level_of(options.cores_domain);
  chosen.policy.every = static_cast<int>(options.balance_every);
  chosen.policy.at = static_cast<int>(options.balance_at);
  if (!session.moves_cores) return;
  session.cores = std::make_unique<cores::Cores>(*session.segment, session.processes, session.count, session.me,
                                                 session.topology, std::move(homes), chosen);
  if (session.leader) session.cores->settle_homes();
  session.bootstrap->barrier_in_node();
  session.cores->begin();
  session.lends = session.cores->lends();
}

std::string nothing_moves(const Session& session) {
  if (session.cores != nullptr) return session.cores->problem();
  return base::options().observe ? "only observing (--observe)"
         : session.start.language == "none"
             ? "the program uses no MPI, so there is no other rank to exchange cores with"
             : "switched off (--cores=off)";
}

// For `steelyard top`.
void open_live_board(Session& session) {
  observe::LiveProcess& self = session.progress.live->mine();
  self.rank.store(session.bootstrap->rank());
  self.pid.store(getpid());
  self.threads.store(session.processes[session.me].threads_at_start);
  self.cores.store(session.cores != nullptr ? session.cores->owned() : limits().program);
  session.bootstrap->barrier_in_node();
  if (!session.leader) return;
  observe::LiveJob::Facts job = {};
  job.node = session.bootstrap->node_index();
  job.nodes = session.bootstrap->node_count();
  job.ranks = session.bootstrap->size();
  job.cores = session.node_cores;
  job.start = now_ns();
  observe::copy_text(job.version, STEELYARD_VERSION);
  observe::copy_text(job.host, host_name());
  observe::copy_text(job.command, fmt::format("{}", fmt::join(base::options().command_line(), " ")));
  observe::copy_text(job.nothing_moves, nothing_moves(session));
  session.progress.live->open(job);
}

/// Why lending is off where nobody has asked for that.
std::string no_lending(const Session& session) {
  const base::Options& options = base::options();
  if (!options.lending) return "";
  if (options.wait != base::Wait::sleep) return " (--wait=poll)";
  if (!session.segment_problem.empty()) return " (no shared memory)";
  if (session.count == 1) return " (one rank on the node)";
  return fmt::format(" ({})", session.cores->problem());
}

void print_banner(const Session& session) {
  const base::Options& options = base::options();
  const int nodes = session.bootstrap->node_count();
  const int ranks = session.bootstrap->node_size();  // not session.count, which is 1 where there is no shared memory
  const std::string cores = options.observe        ? "only observing"
                            : !session.moves_cores ? "cores and lending off"
                            : session.lends        ? "cores on, lending on"
                                                   : "cores on, lending off" + no_lending(session);
  const auto told = [&](const char* option) { return base::text_of(options, *base::find_option(option)); };
  std::string more = takes_loops() ? ", loops " + told("loops") : "";
  if (options.loops_rebalance_static) more += ", static loops rebalanced";
  const char* const whose = takes_loops() ? "" : " (only loops that call steelyard)";
  if (!options.loops_learn.empty()) more += ", learns in " + options.loops_learn + whose;
  if (!options.loops_replay.empty()) more += ", replays " + options.loops_replay + whose;
  if (session.boards != nullptr) more += ", collectives " + told("collectives");
  base::print(fmt::format("steelyard {}: {}, {}, {} node{} x {} rank{} x {} thread{} on {}{}; {}{}", STEELYARD_VERSION,
                          session.bootstrap->library(), openmp_version().empty() ? "no OpenMP" : openmp_version(),
                          nodes, nodes == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s", limits().program,
                          limits().program == 1 ? "" : "s", session.topology.summary,
                          session.topology.emulated ? " (emulated)" : "", cores, more));
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

std::vector<std::string> seen_at_work(const Session& session) {
  std::vector<std::string> seen;
  const observe::Totals& totals = session.activity.totals();
  if (totals.regions > 0) seen.emplace_back("OpenMP regions");
  if (totals.mpi_calls > 0) seen.emplace_back("MPI (" + session.start.language + ")");
  return seen;
}

std::vector<std::string> remarks(const Session& session, bool tells_regions) {
  std::vector<std::string> list;
  const ThreadLimits& limit = limits();
  if (session.sleeps && windows_seen()) {
    list.emplace_back(
        "the program uses one-sided communication: while one of its MPI windows exists, waiting ranks poll and lend no "
        "cores");
  }
  if (!session.segment_problem.empty()) list.push_back(session.segment_problem);
  if (base::options().loops_rebalance_static && !static_loops_seen()) {
    list.emplace_back(
        "--loops-rebalance-static found no static loop that it can change: gcc's loops do not call the OpenMP "
        "runtime, and "
        "regions that query thread IDs keep their division");
  }
  if (base::options().virtual_threads > 1 && !base::options().observe &&
      session.activity.totals().virtual_regions == 0) {
    list.emplace_back(
        "--virtual-threads found no suitable region: it needs static loops compiled by gcc, threads that do not wait "
        "for each "
        "other, and regions that run at least twice");
  }
  if (session.cores != nullptr && session.cores->paused_borrowing()) {
    list.emplace_back(
        "stopped borrowing cores at times: other programs or the owners kept these cores busy, which delayed parallel "
        "regions; request exclusive nodes");
  }
  if (std::string left_out = loops::left_out_of_replay(); !left_out.empty()) list.push_back(std::move(left_out));
  if (base::options().collectives == base::Collectives::called && !base::options().observe &&
      !session.called_broadcasts) {
    list.emplace_back(
        "--collectives=called, but the program never called steelyard_bcast(): the MPI library handled its broadcasts");
  }
  // Regions that query thread IDs are told of by merge(), for all ranks at once.
  if (session.cores != nullptr && !limit.fixed_reason().empty() && !tells_regions)
    list.push_back(limit.fixed_reason() + ": its thread count was not changed");
  return list;
}

observe::Contribution contribution(Session& session, std::int64_t now) {
  observe::Contribution part;
  observe::RankRecord& rank = part.rank;
  rank.rank = session.bootstrap->rank();
  rank.node = session.bootstrap->node_index();
  rank.pid = getpid();
  rank.totals = session.activity.totals_at(now);
  rank.openmp = rank.totals.regions > 0;
  rank.threads_at_start = session.processes[session.me].threads_at_start;
  rank.threads_at_end = session.cores != nullptr ? session.cores->owned() : rank.threads_at_start;
  rank.thread_ceiling = limits().ceiling;
  rank.fixed_reason = limits().fixed_reason();
  rank.waited_for = session.waits.waited_for;
  const CpuUse cpu = cpu_use();
  rank.cpu = cpu.seconds - session.start.cpu.seconds;
  rank.preempted = cpu.preempted - session.start.cpu.preempted;
  rank.timeline = observe::pack(session.progress.timeline->samples());
  part.loops = loop_records();
  rank.broadcasts = session.collectives.of(collectives::Operation::broadcast);
  rank.scatters = session.collectives.of(collectives::Operation::scatter);
  part.intercepted = seen_at_work(session);
  part.kept_regions = kept_regions(session);
  part.remarks = remarks(session, !part.kept_regions.empty());
  part.tasks = session.tasks;
  part.trees = session.collectives.trees();
  for (observe::TasksRecord& tasks : part.tasks) tasks.rank = rank.rank;
  if (!session.leader) return part;
  observe::NodeRecord node;
  node.index = rank.node;
  node.host = host_name();
  node.ranks = session.bootstrap->node_size();
  node.topology = session.topology.summary;
  node.emulated = session.topology.emulated;
  node.cores = session.node_cores;
  if (session.cores != nullptr) {
    session.cores->report(node, part.decisions);
  } else {
    node.nothing_moved = !session.segment_problem.empty() ? session.segment_problem : nothing_moves(session);
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
  record.instrument = session.topology.emulated ? "emulated" : "real";
  record.slurm = {options.slurm_job, options.slurm_step, options.slurm_nodes};
  observe::merge(record, std::move(parts));
  const std::string path = write_record(record, options.record);
  if (!options.summary) return;
  for (const std::string& line : observe::summary(record, path)) base::print(line);
}

}  // namespace

void start(std::unique_ptr<node::Bootstrap> bootstrap, const char* language) {
  auto session = std::make_unique<Session>();
  session->bootstrap = std::move(bootstrap);
  session->start.language = language;
  session->me = session->bootstrap->node_rank();
  session->count = session->bootstrap->node_size();
  session->leader = session->me == 0;
  session->start.date = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
  base::set_log_rank(session->bootstrap->rank());
  wake_openmp();
  const base::Options& options = base::options();
  session->topology = node::discover();
  loops::know_machine(session->topology);
  session->progress.timeline = std::make_unique<observe::Timeline>(static_cast<int>(options.timeline_samples));
  if (base::Status status = share_memory(*session); status) {
    introduce(*session);
    session->bootstrap->barrier_in_node();
    create_cores(*session);
    open_live_board(*session);
    // The ranks of an emulated node share their cores with those of the others.
    const bool shared = session->count > 1 || options.ranks_per_node > 0;
    session->sleeps = options.wait == base::Wait::sleep && !options.observe && shared;
  } else {
    session->segment_problem = status.sentence();
    if (session->bootstrap->rank() == 0) base::warn(session->segment_problem);
    weigh_alone(*session);
  }
  t_primary = true;
  if (session->bootstrap->rank() == 0) print_banner(*session);
  watch_for_termination();
  pthread_atfork(nullptr, nullptr, in_child);
  session->bootstrap->barrier_in_node();
  session->start.cpu = cpu_use();
  session->start.time = now_ns();
  session->activity.start(session->start.time, session->cores != nullptr ? session->cores->owned() : limits().program);
  session->processes[session->me].in_mpi.store(0);
  g_session = session.release();
}

void finish() {
  Session* session = g_session;
  if (session == nullptr) return;
  put_threads_back();
  if (session->cores != nullptr) session->cores->unbind();
  g_session = nullptr;  // from here on the program's calls go straight through
  const std::int64_t now = now_ns();
  session->processes[session->me].finished.store(1);
  if (session->cores != nullptr) session->cores->lend(now, {.until = INT64_MAX});
  std::vector<std::string> gathered = session->bootstrap->gather(observe::pack(contribution(*session, now)));
  if (session->bootstrap->rank() == 0) conclude(*session, std::move(gathered));
  // Threads of the program may still be inside of an event that looks at the session: it is left to the end of the
  // process.
  session->bootstrap.reset();
}

// From any thread: the primary may be in the midst of a call, so the session stays.
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

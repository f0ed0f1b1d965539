// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/options.h"
#include "collectives/account.h"
#include "collectives/board.h"
#include "cores/cores.h"
#include "node/arrivals.h"
#include "node/bootstrap.h"
#include "node/processes.h"
#include "node/segment.h"
#include "observe/activity.h"
#include "observe/live.h"
#include "observe/phases.h"
#include "observe/record.h"
#include "observe/sites.h"
#include "observe/ticks.h"
#include "observe/timeline.h"
#include "session/openmp.h"

// What the rooms of the Session share. Nobody outside of src/session includes this.
namespace steelyard::session {

/// How many threads a region may have, and why not more. Lives from the first OpenMP call on, which may precede
/// start().
struct ThreadLimits {
  int natural = 0;  ///< the count without us and without the program's omp_set_num_threads(); 0: not asked yet
  int program = 1;  ///< the count without us: all that the program ever learns
  int now = 1;      ///< what the OpenMP runtime was last told
  int ceiling = 1;  ///< never more than this
  /// Why the thread count must not change at all, the gravest first. Each cause comes and goes by itself.
  enum Cause { unseen, data, several_threads, phases, set_by_program, regions };
  std::array<std::string, 6> reasons;
  const std::string& fixed_reason() const;  ///< the first of them; empty where the count may change
};

/// What the process has had of the cores, by getrusage(2).
struct CpuUse {
  double seconds = 0;
  long preempted = 0;  ///< times that a thread had to leave its core to another
};

struct Session {
  std::unique_ptr<node::Bootstrap> bootstrap;
  std::int64_t start = 0;
  std::unique_ptr<node::Segment> segment;  // null where shared memory was refused: this process is weighed alone
  node::Process alone = {};                // this process's entry where there is no segment
  node::Process* processes = &alone;       // by node rank
  int me = 0;
  int count = 1;
  bool leader = false;  // plans for the node and speaks for it
  std::unique_ptr<node::Arrivals> arrivals;
  std::unique_ptr<collectives::Boards> boards;  // null where broadcasts are left to the MPI library
  bool takes_every_broadcast = false;
  bool compares_broadcasts = false;  // with the MPI library's own
  bool plants_trees = false;         // for broadcasts between nodes
  bool called_broadcasts = false;    // some by Steelyard's name
  collectives::Account collectives;  // what became of broadcasts and scatters
  std::unique_ptr<observe::TickBoard> ticks;
  std::unique_ptr<observe::LiveBoard> live;  // what `steelyard top` sees; null where there is no segment
  std::int64_t last_decisions_shown = 0;
  std::unique_ptr<cores::Cores> cores;
  node::Topology topology;
  int node_cores = 1;  // in the masks of its processes

  observe::Activity activity;
  observe::Sites regions;
  std::uint32_t code_generation = 0;  // in which they were met
  observe::Sites waits;
  std::unique_ptr<observe::Timeline> timeline;
  std::vector<observe::TasksRecord> tasks;  // one element, where a pool was freed
  observe::Totals sampled;                  // at the end of the last sample
  std::map<int, double> waited_for;         // s, by world rank

  std::int64_t last_call_end = 0;  // of a blocking MPI call

  std::uint16_t regions_since_call = 0;  // in programs without calls it begins again now and then

  // The present region.
  observe::Site* region = nullptr;
  std::uint64_t call = 0;      // where it is begun: the return address
  const void* body = nullptr;  // the function that its threads run, where that is known
  int team = 1;
  int asked_threads = 0;
  bool by_clause = false;
  int virtual_threads = 0;
  std::atomic<bool> asked{false};    // by a thread of it, for its number or for how many they are
  std::atomic<bool> divided{false};  // by a thread of it, whose query is proved to be that of a static loop
  std::int64_t fixed_wall = 0;       // ns in regions whose thread count the program fixed by a clause
  std::int64_t asking_wall = 0;      // ns in regions that keep the program's count because they ask for it
  struct Asking {
    std::uint64_t place;  // an address in its code
    std::int64_t wall;    // ns
  };
  std::vector<Asking> asking;                // the same for each of them
  std::atomic<bool> foreign_regions{false};  // some were begun by other threads than the primary

  // Phases, at the leader.
  observe::PeriodFinder collective_period;
  observe::PeriodFinder region_period;
  std::int64_t last_consideration = 0;

  bool lends = false;   // waits leave the core and cores are lent
  bool sleeps = false;  // waits leave the core
  std::string language;
  std::string segment_problem;
  std::string started;  // ISO 8601, UTC
  CpuUse cpu_at_start;
};

/// Null before start() and after finish().
extern Session* g_session;
/// True in the thread that called MPI_Init.
extern constinit thread_local bool t_primary;
/// now_ns() for events of the calling thread that come often: by the processor's counter where that is cheaper.
std::int64_t event_ns();
/// True inside of this thread's part of a weighed region.
bool in_region();

ThreadLimits& limits();
/// The regions that keep the program's thread count because they query thread IDs, unless the whole process keeps it
/// for another reason.
std::vector<observe::KeptRegion> kept_regions(const Session& state);
/// The OpenMP runtimes of the process that are seen; "" where there is none.
std::string openmp_version();
/// Makes an OpenMP runtime that is loaded initialise, so that it is known before the first region.
void wake_openmp();

/// Notes a phase mark of this process; at the leader, plans where there is enough to plan from.
void publish_tick(Session& state, observe::TickSource source, std::int64_t now);
void consider_plans(Session& state, std::int64_t now);
/// True once the program has had a window for one-sided accesses.
bool windows_seen();
/// Closes a sample of the timeline where the last is old enough, and lets others see how far this process is.
void sample(Session& state, std::int64_t now);

}  // namespace steelyard::session

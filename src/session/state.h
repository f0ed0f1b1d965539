// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/options.h"
#include "cores/cores.h"
#include "node/arrivals.h"
#include "node/bootstrap.h"
#include "node/processes.h"
#include "node/segment.h"
#include "observe/activity.h"
#include "observe/record.h"
#include "session/capability.h"
#include "session/collectives.h"
#include "session/cpu_use.h"
#include "session/named_regions.h"
#include "session/openmp.h"
#include "session/pause.h"
#include "session/regions.h"
#include "session/steps.h"
#include "session/waits.h"

// What the files of src/session share. No file outside of it includes this.
namespace steelyard::session {

/// How many threads a region may have, and why not more. Lives from the first OpenMP call on, which may precede
/// start().
struct ThreadLimits {
  int natural = 0;  ///< the count without Steelyard and omp_set_num_threads(); 0: not known yet
  int program = 1;  ///< the count without Steelyard, which is all that the program is told
  int now = 1;      ///< what the OpenMP runtime was last told
  int ceiling = 1;  ///< the largest count
  /// Threads that the program has declared, which are not OpenMP's (declare_cores()). Negative: none; 0: one for each
  /// core of the affinity mask.
  int declared = -1;
  /// Why the thread count must not change at all, the gravest first. Each reason comes and goes by itself.
  enum Reason { unseen, late, data, several_threads, phases, moved_by_program, set_by_program, regions };
  std::array<std::string, 8> reasons;
  const std::string& fixed_reason() const;  ///< the first of them; empty where the count may change
};

/// What is known once start() has ended.
struct Start {
  std::int64_t time = 0;        ///< ns; later by each pause that has ended
  std::string date;             ///< ISO 8601, UTC
  std::string language;         ///< in which the program called MPI_Init; "none": it uses no MPI
  CpuUse cpu;                   ///< until then
  bool record_refused = false;  ///< rank 0 has warned that the run record cannot be written
};

struct Session {
  // The node.
  std::unique_ptr<node::Bootstrap> bootstrap;
  std::unique_ptr<node::Segment> segment;  // null where shared memory was refused: this process stands alone
  std::string segment_problem;             // why
  const char* segment_problem_brief = "no shared memory";  // the same for the header line, if there is one
  node::Process alone = {};                                // this process's entry where there is no segment
  node::Process* processes = &alone;                       // by node rank
  int me = 0;
  int count = 1;
  bool leader = false;  // plans for the node and speaks for it
  std::unique_ptr<node::Arrivals> arrivals;
  node::Topology topology;
  int node_cores = 1;  // in the affinity masks of its processes

  // The capabilities.
  std::vector<std::unique_ptr<Capability>> capabilities;  // those that are on
  // Of those, what regions, waits and calls use; null if it is off.
  cores::Cores* cores = nullptr;
  Delivery* collectives = nullptr;
  observe::TasksRecord* tasks = nullptr;
  std::map<int, observe::PhaseRecord>* phases = nullptr;
  bool lends = false;   // waits lend cores; not while `held`
  bool sleeps = false;  // waits may lend cores and sleep

  // Between hold_begins() and hold_ends(); and the thread count of the program before.
  bool held = false;
  int program_before = 0;

  // What is observed.
  Start start;
  observe::Activity activity;
  Regions regions;
  NamedRegions named;
  Pause pause;
  Waits waits;
  Steps steps;
  Progress progress;
};

/// Null before start() and after finish().
extern Session* g_session;
/// True in the thread that called MPI_Init.
extern constinit thread_local bool t_primary;
/// now_ns() for events of the calling thread that come often: by the processor's counter where that is cheaper.
std::int64_t event_ns();
/// True inside of this thread's part of an outermost region of the primary thread, nested regions included.
bool in_region();
/// From the primary thread: if other threads have begun regions, this process keeps its cores from now on.
void respect_other_threads(Session& session);
ThreadLimits& limits();
/// The thread count of this process must not change for this reason, until the same reason is given without a sentence.
void fix_thread_count(ThreadLimits::Reason reason, std::string sentence);
/// The program has called omp_set_num_threads(count).
void note_set_by_program(int count);
/// True where Steelyard may change thread counts at all.
inline bool may_move() { return base::options().cores != base::Cores::off && !base::options().observe; }
/// Cores of this process; its thread count where no cores are given to processes.
inline int owned_cores(const Session& session) {
  return session.cores != nullptr ? session.cores->owned() : limits().program;
}
/// True if this process may lend its cores now.
inline bool lends(const Session& session) { return session.lends && !session.held; }

/// ns: cores that were lent before belong to ranks that this rank's last MPI call may still wake.
std::int64_t lent_before_call(const Session& session, std::int64_t now);
/// The regions that keep the program's thread count because they query thread IDs or share out no work, unless the
/// whole process keeps it for another reason.
std::vector<observe::KeptRegion> kept_regions(const Session& session);
/// The OpenMP runtimes of the process that are seen; "" where there is none.
std::string openmp_version();
/// True where the process has loaded an OpenMP runtime, whether or not it is seen.
bool has_openmp();
/// The file of another tool that measures the OpenMP runtime in Steelyard's place; empty if there is none.
std::string openmp_tool();
/// Makes an OpenMP runtime that is loaded initialise, so that it is known before the first region.
void wake_openmp();
/// Sets how many threads the rank may have at most: one on each core of the node (with --smt: hardware thread), or
/// --max-threads; never less than the program's own count. Without a known OpenMP runtime, does nothing.
void limit_threads(const node::Topology& topology);

}  // namespace steelyard::session

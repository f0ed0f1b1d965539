// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "observe/broadcasts.h"
#include "observe/metrics.h"
#include "observe/packed.h"
#include "observe/phase_record.h"
#include "observe/region_record.h"
#include "observe/thresholds.h"
#include "observe/totals.h"

// The run record: everything that Steelyard has to say about a run. Written as JSON at MPI_Finalize, read back by
// `steelyard report`, by the Python package and by other programs through schema/run-record.schema.json.
namespace steelyard::observe {

struct RankRecord {
  int rank = 0;
  int node = 0;
  long pid = 0;
  bool openmp = false;  ///< at least one parallel region was seen
  int threads_at_start = 0;
  int threads_at_end = 0;
  int thread_ceiling = 0;    ///< more threads than this are never given to the rank
  std::string fixed_reason;  ///< why its thread count must not change; empty where it may
  Totals totals;
  std::map<int, double> waited_for;  ///< s in MPI, by the critical rank, where that is known
  PackedTimeline timeline;
  Broadcasts broadcasts;  ///< left out of the file where there were none; so are scatters
  Broadcasts scatters;    ///< without a tree, and without the late ranks
  double cpu = 0;         ///< s on a core, of all threads; 0, and left out of the file, where it is not known
  double paused = 0;      ///< s between steelyard_pause() and steelyard_resume(); in no other figure
  /// s that the thread with most of it was ready to run while other threads had its core; -1, and left out of the file,
  /// if it is not known.
  double run_delay = -1;
  /// Core s for which a CPU quota kept the threads of the process's cgroup from running, those of other processes in it
  /// included. 0, and left out of the file, if there was none or it is not known.
  double throttled = 0;
  /// Threads of its largest team; left out of the file, and 0, unless these are fewer than threads_at_start.
  int threads_used = 0;
};

/// Threads that the rank's regions really had, at most.
inline int threads_run(const RankRecord& rank) {
  return rank.threads_used > 0 ? rank.threads_used : rank.threads_at_start;
}

/// What the task pools of one rank did (steelyard/tasks.h), those that it has freed.
struct TasksRecord {
  int rank = 0;
  std::int64_t runs = 0;
  std::int64_t spawned = 0, executed = 0;
  std::int64_t stolen_local = 0;   ///< of these, spawned by another thread of its node
  std::int64_t stolen_remote = 0;  ///< of these, received from other nodes
  std::int64_t results_sent = 0;   ///< to other ranks
  std::int64_t hops = 0;           ///< the transfers that these took
  std::int64_t messages = 0;       ///< to other nodes
  int connections = 0;             ///< ranks of other nodes that it talked to
  int degree = 0;                  ///< those that it might talk to
  double busy_seconds = 0;         ///< thread seconds in tasks
  double run_seconds = 0;          ///< thread seconds in runs
  /// "memory": all ranks are on one node. "messages": to other nodes, between tasks. "messages and thread": also while
  /// the rank is in a long task.
  std::string transport;
  /// Other pools, or another rank's: connections, degree and transport are the largest.
  TasksRecord& operator+=(const TasksRecord& other);
};

/// What became of a plan. `declined`: not worth it. `taken`: moved, the run ended before it could be checked.
/// `confirmed`: moved, and it helped. `undone`: moved, did not help, moved back. `undecided`: moved and kept; its check
/// ended without a significant result. `requested`: the user changed the job's cores (`steelyard cores`); no plan.
enum class Outcome { declined, taken, confirmed, undone, undecided, requested };
inline constexpr const char* kOutcomeNames[] = {"declined", "taken", "confirmed", "undone", "undecided", "requested"};
/// As reports print it: the record's word, but for `undone`.
constexpr const char* word_of(Outcome outcome) {
  return outcome == Outcome::undone ? "reverted" : kOutcomeNames[static_cast<int>(outcome)];
}
/// True if cores changed owners by a plan.
constexpr bool is_move(Outcome outcome) { return outcome != Outcome::declined && outcome != Outcome::requested; }

struct DecisionRecord {
  double time = 0;  ///< s since MPI_Init at the deciding rank
  int node = 0;
  std::string capability;                      ///< "cores"
  std::string what;                            ///< "threads 6,6,6,6 -> 9,5,5,5"
  std::string reason;                          ///< a sentence
  double forecast_gain = 0;                    ///< fraction of the iteration time, 0.24 = 24 %
  double forecast_low = 0, forecast_high = 0;  ///< by the measurement uncertainty
  double cost = 0;                             ///< s
  Outcome outcome = Outcome::declined;
  double measured_gain = 0;                    ///< fraction, where confirmed, reverted or undecided
  double measured_low = 0, measured_high = 0;  ///< its confidence interval
  int repeats = 1;                             ///< equal declined decisions are counted, not listed
};

/// Why no core moves on a node whose ranks have loaded no OpenMP runtime.
inline constexpr const char* kNoOpenMp =
    "no OpenMP runtime is loaded, so no rank can use a further core; to balance the load, divide the work evenly "
    "between the ranks, or compute with OpenMP threads";

/// The same on a node with one rank.
inline constexpr const char* kOneRank =
    "one rank on the node, so no other rank to exchange cores with; start more ranks: mpirun -n N steelyard run "
    "PROGRAM";

struct NodeRecord {
  int index = 0;
  std::string host;
  int ranks = 0;
  int cores = 0;                                       ///< cores of the affinity mask that the job was given here
  std::string topology;                                ///< "2 packages x 24 cores"
  bool emulated = false;                               ///< the topology is synthetic: binding is recorded, not applied
  std::string phase_source = "none";                   ///< "collectives", "regions", "steelyard_step" or "none"
  long phases = 0;                                     ///< steps seen
  double phase_before = 0;                             ///< s, mean iteration time before the first move
  double phase_before_low = 0, phase_before_high = 0;  ///< its confidence interval
  double phase_after = 0;                              ///< s, mean iteration time after the last move
  double phase_after_low = 0, phase_after_high = 0;
  std::string nothing_moved;  ///< why no core was moved; empty if cores were moved
  /// If that is why: "ranks" or "threads", of which there are more than cores.
  std::string oversubscribed;
};

/// Where Slurm ran it. Left out of the file elsewhere.
struct SlurmRecord {
  std::string job, step;
  std::string node_list;  ///< as Slurm writes it: "node[01-04]"
};

/// A loop of the program, with what all ranks have executed of it.
struct LoopRecord {
  std::string site;      ///< "app+0x1a2b": where it is called; or the name that the program gave
  int ranks = 1;         ///< have executed it
  long executions = 0;   ///< by teams of two threads or more
  long iterations = 0;   ///< of all executions
  int threads = 0;       ///< of those executions that took longest; 0: not known
  std::string strategy;  ///< the one at the end; "runtime" where it was left to the OpenMP runtime
  std::string reason;    ///< a sentence
  double time = 0;    ///< s in all executions, of the rank where that is most; estimated from those that were measured
  double idle = 0;    ///< fraction of its threads' time, lately
  double stolen = 0;  ///< fraction of its iterations that others than their owners ran, lately
  /// What it gained over `against`, "even" or another strategy, by the trials of `auto`; empty where nothing was
  /// compared.
  std::string against;
  double gain = 0;                     ///< fraction of its time that it takes less
  double gain_low = 0, gain_high = 0;  ///< its confidence interval
};

/// A region that kept the program's thread count because its result may depend on it, with what all ranks have executed
/// of it.
struct KeptRegion {
  std::string site;           ///< "app+0x1a2b": its code, or where it is called
  std::string function;       ///< that it is in; empty if the program has no symbols
  bool repeats_work = false;  ///< it shares out no work, so each thread repeats it; otherwise it queries thread IDs
  int ranks = 1;              ///< that have executed it
  double time = 0;            ///< s in all executions, of all ranks
};

/// A region beside the outermost ones of the primary thread, with what all ranks have executed of it.
struct OtherRegion {
  std::string site;      ///< "app+0x1a2b": its code, or where it is called
  std::string function;  ///< that it is in; empty if the program has no symbols
  bool nested = false;   ///< in another region; if not, begun by another thread than the primary
  int ranks = 1;         ///< that have executed it
  long executions = 0;
  int threads = 0;       ///< of its largest team
  double time = 0;       ///< s in all executions, of all ranks
  double useful = 0;     ///< thread s of computing
  double imbalance = 0;  ///< thread s of waiting at barriers
  double load_balance() const { return useful + imbalance > 0 ? useful / (useful + imbalance) : 1; }
};

inline constexpr int kSchema = 2;  ///< Encoding: version of the run record

struct RunRecord {
  int schema = kSchema;
  std::string version;
  std::string started;  ///< ISO 8601, UTC
  std::vector<std::string> command;
  std::map<std::string, std::string> options;
  std::string mpi;                  ///< "Open MPI 4.1.4"
  std::string openmp;               ///< "LLVM OpenMP", empty where none was loaded
  std::string openmp_tool;          ///< file of another tool that measured OpenMP; left out where there was none
  std::string instrument = "real";  ///< "real", "emulated" or "simulated"
  SlurmRecord slurm;
  std::vector<std::string> intercepted;  ///< what was seen at work: "OpenMP regions", "MPI (C)", "MPI (Fortran)"
  std::vector<std::string> remarks;      ///< sentences for the user: what was left alone and why
  double wall = 0;                       ///< s, longest rank
  std::vector<NodeRecord> nodes;
  std::vector<RankRecord> ranks;
  std::vector<DecisionRecord> decisions;
  std::vector<LoopRecord> loops;           ///< those that took longest first
  std::vector<KeptRegion> kept_regions;    ///< the same; left out of the file where there were none
  std::vector<OtherRegion> other_regions;  ///< the same
  std::vector<RegionRecord> regions;       ///< named by the program, longest first; left out where there were none
  std::vector<PhaseRecord> phases;         ///< by rank; left out of the file where there were none
  std::vector<TasksRecord> tasks;          ///< by rank; empty where there were none, and then left out of the file
  std::vector<Tree> trees;  ///< of broadcasts, one a communicator; left out of the file where there were none
  Metrics metrics;          ///< derived from `ranks` by metrics_of()
  Thresholds thresholds;    ///< of the summary and the page
};

/// The value of an option as the user writes it; "" if the record does not have it.
std::string option_of(const RunRecord& record, const std::string& name);
/// The level of the confidence intervals in the record (--confidence); 0.95 if the record is older than this option.
double confidence_of(const RunRecord& record);

/// One rank's contribution to the record. Those of node leaders carry node and decisions too.
struct Contribution {
  RankRecord rank;
  std::vector<NodeRecord> node;  ///< one element at node leaders
  std::vector<DecisionRecord> decisions;
  std::vector<LoopRecord> loops;
  std::vector<KeptRegion> kept_regions;
  std::vector<OtherRegion> other_regions;
  std::vector<RegionRecord> regions;  ///< with this rank alone; wall and metrics are not set
  std::vector<std::string> intercepted;
  std::vector<std::string> remarks;
  std::vector<PhaseRecord> phases;      ///< of contexts whose first process it is
  std::vector<TasksRecord> tasks;       ///< one element where there were any
  std::vector<Tree> trees;              ///< of the communicators whose rank 0 it is
  std::map<int, double> borrowed_from;  ///< core s of totals.borrowed, by the rank that owned the core
};
/// As bytes for Bootstrap::gather(): CBOR of the JSON behind a checksum.
std::string pack(const Contribution& contribution);
/// Failure, and the contribution as it was, on anything that pack() did not write.
base::Status unpack(const std::string& bytes, Contribution& contribution);

/// Adds contributions in the order of ranks, nodes and time, and derives `wall` and `metrics`. What several ranks say
/// is listed once; a remark that does not come from all ranks gets their numbers in front. A rank has lent at least
/// what others have used: a borrower may keep a core after its owner's wait, and after the owner's MPI_Finalize.
void merge(RunRecord& record, std::vector<Contribution> contributions);

/// Always the same bytes for the same record: fixed order of members, numbers to the nanosecond.
std::string to_json(const RunRecord& record);
/// Reads every schema version up to this one. Failure: the field at fault, what was expected, what is there; `record`
/// is left as it was.
base::Status from_json(const std::string& text, RunRecord& record);

}  // namespace steelyard::observe

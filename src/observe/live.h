// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "node/cpu_set.h"
#include "node/processes.h"
#include "node/segment.h"
#include "observe/record.h"
#include "observe/totals.h"

// What the processes of a node publish while they run. It lies at the front of their shared segment. The leader keeps
// the file of the segment open, so `steelyard top` of the same user finds it under /proc. The file has no name, so a
// job that dies leaves nothing behind. `steelyard cores` also writes one request for other cores into the LiveJob.
// As root, both read files that any user may have made, and may change at any time.
namespace steelyard::observe {

/// The job's part on this node, as it is in memory. A reader may be of another version: magic and sizes tell.
struct alignas(64) LiveJob {
  /// Encoding: "stylive5". Another layout has another number, in the highest byte.
  static constexpr std::uint64_t kMagic = 0x356576696c797473;
  static constexpr int kDecisions = 4;  ///< Size: lines of the screen of `steelyard top`
  struct Decision {
    double time;  ///< s since the run began
    double forecast_gain;
    std::int32_t outcome;
    std::int32_t repeats;
    char what[120];
    char reason[200];
  };
  /// The latest decisions, the newest last. Two of these take turns, so that one can be read while the other is
  /// written.
  struct Page {
    std::int32_t count;
    Decision decisions[kDecisions];
  };

  struct Facts {
    std::int32_t node, nodes, ranks;
    std::int32_t cores;  ///< at the start
    std::int64_t start;  ///< base::now_ns() when the run began
    char version[16];
    char host[64];
    char batch_job[64];  ///< "" outside of one
    char command[256];
    char immovable_reason[200];  ///< why no core can move; "" where cores can
    std::int32_t resizable;      ///< the leader accepts requests for other cores
  };

  /// Encoding: owners of CPUs. kSibling: a further hardware thread of a core, which has no owner. kFree: no process's.
  enum : std::int16_t { kOutside, kSibling, kFree, kWithdrawn, kFirstProcess };

  /// The CPUs that the job may use, from `steelyard cores`. One command at a time writes it, under a lock (flock(2)).
  struct Request {
    std::atomic<std::uint32_t> number;  ///< odd while it is written, else that of the last request
    std::atomic<std::uint32_t> answered;
    std::atomic<std::uint64_t> cpus[node::SharedCpuSet::kMost / 64];
    std::atomic<std::uint32_t> user;  ///< the user that asked, by ID
    char refusal[200];                ///< of the last that was answered; "" if it was carried out
  };

  std::atomic<std::uint64_t> magic;  ///< written last
  std::int32_t process_size;         ///< bytes of a LiveProcess and a node::Process
  std::int32_t processes;            ///< of this node: so many LiveProcesses follow, and as many node::Processes
  Facts facts;
  std::atomic<std::uint32_t> turn;
  Page pages[2];
  Request request;
  std::atomic<std::int32_t> unreleased;                        ///< withdrawn CPUs that some process still uses
  std::atomic<std::int16_t> owner[node::SharedCpuSet::kMost];  ///< by CPU
};

/// A request as the leader reads it.
struct LiveRequest {
  std::uint32_t number = 0;
  node::CpuSet cpus;
  std::string who;
};

/// One process; whether it is in MPI and whether it has finished is in its node::Process. Each value is right by
/// itself; together they are as of the same few milliseconds.
struct alignas(64) LiveProcess {
  std::atomic<std::int32_t> rank, pid, threads, owned, borrowed;
  std::atomic<std::int64_t> updated;                           ///< base::now_ns()
  std::atomic<std::int64_t> totals[std::size(kTotalsFields)];  ///< in the order of kTotalsFields
};

/// The side of the running processes.
class LiveBoard {
 public:
  static std::size_t footprint(int processes);
  /// The first thing in the segment; the node::Processes are the second.
  LiveBoard(node::Segment& segment, int processes, int me);

  LiveProcess& mine() { return processes_[me_]; }
  /// What a process of the node has published last.
  Totals totals(int process) const;
  /// By the leader. From now on, `steelyard top` can read the job.
  void open(const LiveJob::Facts& facts);
  void publish(const Totals& totals, std::int64_t now);
  // By the leader.
  void publish(const std::vector<DecisionRecord>& decisions);
  void show_owner(int cpu, int owner);
  void show_unreleased(int cpus) { job_->unreleased.store(cpus, std::memory_order_relaxed); }
  /// True if there is a request that was not answered yet.
  bool asked(LiveRequest& request) const;
  void answer(std::uint32_t number, const std::string& refusal);

 private:
  LiveJob* job_;
  LiveProcess* processes_;
  int count_;
  int me_;
};

/// A copy of what a reader sees.
struct LiveView {
  struct Process {
    int rank = 0, pid = 0, threads = 0;
    int cores = 0, borrowed = 0;  ///< cores that it has now; those of other processes among them
    bool in_mpi = false, finished = false, fixed = false;
    std::int64_t updated = 0;
    Totals totals;
  };
  int node = 0, nodes = 0, ranks = 0;
  int cores = 0;  ///< that the job has now on this node
  std::int64_t start = 0;
  std::string version, host, batch_job, command, immovable_reason;
  std::vector<Process> processes;
  std::vector<DecisionRecord> decisions;  ///< the newest last
  bool resizable = false;
  std::vector<int> owner;  ///< by CPU: LiveJob::kOutside ...
  int unreleased = 0;      ///< withdrawn CPUs that some process still uses

  bool finished() const;
  /// CPUs of that owner.
  node::CpuSet cpus_of(int owner) const;
  /// CPUs that the ranks of this node own.
  node::CpuSet owned() const;
};

/// Asks the job in this file for these CPUs. By one process at a time. Returns the request's number; none if the file
/// cannot be written. It is not mapped: its user may truncate it, and memory behind the end of a file is a SIGBUS.
std::optional<std::uint32_t> ask_live(int file, const node::CpuSet& cpus, unsigned user);

/// The last request that the job in a file has answered.
struct LiveAnswer {
  std::uint32_t number = 0;
  std::string refusal;  ///< "" if the request was carried out
};
/// None if the file cannot be read.
std::optional<LiveAnswer> read_answer(int file);

/// False if these bytes are not a live job that this version understands. Nothing else writes to them.
bool read_live(const void* memory, std::size_t bytes, LiveView& view);

enum class Found { nothing, another_version, job };
/// Reads only the needed part of a segment's file.
Found read_live(int file, LiveView& view);

/// Text into an array, cut where it is longer; always ended by a zero.
template <std::size_t N>
void copy_text(char (&to)[N], const std::string& text) {
  const std::size_t length = std::min(text.size(), N - 1);
  text.copy(to, length);
  to[length] = 0;
}

}  // namespace steelyard::observe

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "tasks/message_thread.h"
#include "tasks/missing_ranks.h"
#include "tasks/policy.h"
#include "tasks/pool_failure.h"
#include "tasks/router.h"
#include "tasks/send_queue.h"
#include "tasks/team.h"
#include "tasks/termination.h"
#include "tasks/worker.h"

namespace steelyard::tasks {

struct Settings {
  int threads = 1;                     ///< of this process that execute tasks
  int degree = 0;                      ///< links of a node, at most; 0: the policy chooses
  int ranks_per_node = 0;              ///< that the user has set; 0: all
  std::string policy = "small-world";  ///< a name that policy_named() knows
  double fraction = 0;                 ///< of a victim's tasks that a thief gets; 0: adaptive
  /// Bytes of results that are gathered for one parcel: few enough for MPI to deliver them without the sender's help.
  std::size_t parcel = 3072;
  int outstanding = 64;  ///< parcels that may be under way to one process, or wait for the primary thread
};

struct Result {
  std::uint64_t tag;
  std::uint32_t function;
  bool failed;
  const char* bytes;
  std::size_t size;
};

/// The function that receives results. The thread that runs the pool calls it.
struct Consumer {
  void (*call)(void* self, const Result& result) = nullptr;
  void* self = nullptr;
};

/// What one process did since the pool was created.
struct Statistics {
  std::uint64_t spawned = 0, executed = 0, stolen_local = 0, stolen_remote = 0;
  std::uint64_t results_sent = 0, hops = 0;  ///< results that went to another process, and their transfers
  std::uint64_t messages = 0, runs = 0, termination_rounds = 0;
  int connections = 0, degree = 0;           ///< processes of other nodes: messages went to or from; may go to
  double busy_seconds = 0, run_seconds = 0;  ///< of its threads in tasks; of the process in run()
  int threads = 1;
};

/// Tasks of all processes of a communicator. In each process the primary thread, which has created the pool, runs it
/// and exchanges messages with other nodes.
class Pool final : Router::Carrier, Policy::Host {
 public:
  /// Collective over the ranks of `transport`, which the pool keeps.
  static base::Status create(std::unique_ptr<Transport> transport, std::vector<Function> functions,
                             const std::string& names, const Settings& settings, std::unique_ptr<Pool>& pool);
  ~Pool() override;

  base::Status spawn(std::uint32_t function, std::uint64_t tag, const void* input, std::size_t bytes);
  /// Collective: executes tasks until no rank has any left and all results are at their owners.
  base::Status run(Consumer consumer);
  /// For the other threads of a process, once for each run, while the primary thread is in run(). If the run is over,
  /// the call returns at once.
  /// @param larger the team has more threads than the program asked for: a thread beyond Settings::threads is no error
  base::Status help(bool larger = false);
  /// Collective: no process sends to any other afterwards. To be called before the destructor.
  /// @param finalizing MPI_Finalize was called: tasks that were spawned and not executed are dropped
  base::Status leave(bool finalizing = false);
  /// Sets the rank of this process in MPI_COMM_WORLD, for error messages.
  void set_world_rank(int rank);
  /// Starts a MessageThread, which serves others while the primary thread executes a long task. To be called after
  /// create(), if any thread may call MPI. Does nothing on a single node.
  void use_message_thread();
  /// For a running task: serves others without executing anything.
  void yield(Worker& worker);

  int rank() const override { return transport_->rank(); }
  const Routes& routes() const { return routes_; }
  const Function& function(std::uint32_t index) const { return functions_[index]; }
  std::size_t functions() const { return functions_.size(); }
  const Settings& settings() const { return settings_; }
  std::int64_t now() const { return transport_->now(); }
  Statistics statistics() const;
  /// For the record: "memory" on a single node, otherwise "messages" or, with a MessageThread, "messages and thread".
  const char* transport_in_use() const;
  bool open() const { return transport_->open(); }
  bool running() const { return running_; }
  /// True if the calling thread executes a task of this pool.
  bool in_task() const;

  /// A task of `worker` has ended with this result.
  void finish(Worker& worker, bool primary, const Record& record, const char* bytes);

 private:
  /// Sends counts and outcomes of TerminationDetection to other nodes.
  struct TerminationSender final : TerminationDetection::Sender {
    explicit TerminationSender(Pool& p) : pool(p) {}
    void report(int rank, std::uint64_t round, const TerminationRounds::Counts& counts) override;
    void outcome(int rank, std::uint64_t round, TerminationRounds::Outcome outcome, std::uint64_t leaver) override;
    Pool& pool;
  };
  /// Sends the lists of MissingRanks to other nodes.
  struct MissingRanksSender final : MissingRanks::Sender {
    explicit MissingRanksSender(Pool& p) : pool(p) {}
    void send_list(int rank, bool question, const MissingRanks::List& absent) override;
    int world_rank(int rank) const override { return pool.transport_->world_rank(rank); }
    Pool& pool;
  };
  struct Request {
    int rank;
    std::uint64_t run;
    bool early;
  };
  enum class Asked : std::uint8_t { no, early, yes };
  /// A link of this node, and the ranks at its other end that this process has asked for tasks.
  struct Link : Routes::Link {
    std::vector<int> asked;
    Asked how = Asked::no;
    int first;  ///< rank to ask first: the last one that gave
    void forget() {
      asked.clear();
      how = Asked::no;
    }
  };
  Pool(std::unique_ptr<Transport> transport, std::vector<Function> functions, const Settings& settings);
  Worker& primary() { return *workers_.front(); }
  /// The queue and the heap of the thread that exchanges messages now.
  Worker& receiver() { return on_message_thread_ ? *receiver_ : primary(); }
  /// Locks what the primary thread and the MessageThread share: everything that messages use.
  std::unique_lock<std::mutex> lock_messages() {
    return message_thread_ ? std::unique_lock(messages_mutex_) : std::unique_lock(messages_mutex_, std::defer_lock);
  }
  bool congested() const { return message_thread_ ? congested_.load(std::memory_order_relaxed) : router_.congested(); }

  // Router::Carrier
  Routes::Way way(int owner) override;
  void carry(int rank, int further, std::vector<char>& records) override;
  bool deliver(const Record& record, const char* bytes) override;
  void acknowledge(const Router::Parcel& parcel) override;

  // Policy::Host
  const RankPlacement& placement() const override { return routes_.placement(); }
  std::uint64_t current_run() const override { return run_; }
  std::uint64_t spawned_here() const override;
  void ask_only(const std::vector<std::uint32_t>& nodes) override;
  void send(int to, std::uint64_t run, const std::vector<char>& bytes) override;

  void begin_run(Consumer consumer);
  /// Waits until the helpers have left the run.
  void end_run();
  /// After a failed run: sends what is left to send, for a limited time. No further run is possible.
  void abandon();
  /// Executes tasks until the run ends.
  TerminationRounds::Outcome work();
  class Idle;
  /// Between two tasks: exchanges messages, and asks for tasks before there are none.
  /// @param time now, ns
  /// @return false if the run has ended with `outcome_`
  bool poll_between_tasks(std::int64_t time);
  /// `end`: the run has ended with `outcome_`.
  enum class Found { look_again, task, end };
  /// Without a task: exchanges messages, and steals a task or asks for some. If there is none, waits once.
  /// @param time now, ns
  /// @return look_again: the own queue may have tasks now; task: `entry` is to be executed
  Found look_for_task(Deque::Entry& entry, Idle& idle, std::int64_t time);
  /// Receives and sends messages, forwards results and answers requests. Stores the outcome if that ends the run.
  void poll(std::int64_t now, bool idle);
  /// To be called before the first task of a run.
  void begin_first_task();
  /// Delivers results that the MessageThread has received, and posts those that were held back.
  void take_over_from_thread();
  void consume(const Record& record, const char* bytes);
  void post(const Record& record, const char* bytes);
  std::int64_t serve_by_thread();
  void release(std::uint64_t block);
  void collect_blocks();
  void receive_messages();
  /// Handles a message.
  void read(int from, std::vector<char> message);
  void send_message(int to, Kind kind, std::uint64_t number, const std::vector<char>& bytes, int further = 0);
  /// `is_idle`: this process counts as idle already.
  bool steal(Deque::Entry& entry, bool is_idle);
  void ask(std::int64_t now);
  void set_askable(std::vector<std::size_t> links);
  /// True if this process, which is idle, may ask over this link: no idle process of the node is between it and the
  /// process that serves the link, in the order of their numbers.
  bool asks_over(const Link& link) const;
  void request_ahead();
  void request_more();
  void send_request(Link& link, int rank, Asked how);
  void ask_ahead();
  void answered(int rank);
  /// Withdraws all requests.
  void withdraw();
  /// Answers a request if there are enough tasks.
  bool give_to(const Request& request, std::size_t askers);
  void drain_sends();
  /// Answers all requests that can be answered.
  void serve();
  void wait(std::int64_t waited);
  /// Stores the outcome `failed` if this run cannot be finished. See pool_failure.cpp.
  void check_for_failure(std::int64_t time);
  PoolFailure failure_on_node(std::int64_t time);
  void fail_run(PoolFailure failure);
  void tell_neighbours(Kind kind, PoolFailure failure);
  void failure_reported(Kind kind, PoolFailure failure);
  void warn_of_missing_ranks(std::int64_t time, std::int64_t waited);
  /// If no helper has come to any run: one process of the node warns, after 10 s of runs or when the pool is freed.
  void warn_of_missing_helpers();
  /// The error that ends this run.
  base::Status failure_status() const;
  /// Hands the results of a helper to the primary thread.
  void hand_over(Worker& worker);

  std::unique_ptr<Transport> transport_;
  std::vector<Function> functions_;
  Settings settings_;
  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Arena> arena_;
  Routes routes_;
  Routes::Duties duties_;
  std::vector<std::unique_ptr<Worker>> workers_;
  SendQueue send_queue_;
  Router router_;
  TerminationSender termination_sender_{*this};
  std::unique_ptr<TerminationDetection> termination_;
  MissingRanksSender missing_ranks_sender_{*this};
  std::unique_ptr<MissingRanks> missing_ranks_;

  // Stealing between nodes.
  std::vector<Request> requests_;  // thieves that wait here for tasks
  std::vector<Link> links_;
  std::int64_t ask_again_ = 0, patience_ = 0;
  std::vector<std::size_t> askable_;  // indices of links, ascending
  std::optional<Victims> victims_;    // the order in which they are asked

  std::uint64_t run_ = 0;
  std::atomic<bool> running_ = false;
  std::int64_t leaves_at_ = 0, next_check_ = 0;
  bool leaving_ = false, finalizing_ = false, broken_ = false;
  Consumer consumer_;
  /// Set while the messages are locked, and constant from then on until the next run begins.
  std::optional<TerminationRounds::Outcome> outcome_;
  std::int64_t next_poll_ = 0, next_receive_ = 0, warn_at_ = 0;
  std::map<int, std::vector<char>> arriving_;  // by sender: messages that are not complete
  std::set<int> connections_;
  Statistics totals_;
  int way_owner_ = -1;
  Routes::Way last_way_{};
  std::vector<std::uint64_t> blocks_;

  // Between the threads of this process.
  Team team_;
  std::mutex handed_mutex_;
  std::vector<std::vector<char>> handed_;  // results of helpers
  std::atomic<int> handed_count_{0};

  // With a MessageThread. Its worker executes nothing: tasks that arrive wait in its queue for thieves.
  Worker* receiver_ = nullptr;  // null on a single node
  std::mutex messages_mutex_;
  bool on_message_thread_ = false;  // the MessageThread runs, and holds the mutex
  bool message_arrived_ = false;    // something has arrived
  bool begun_ = false;              // this process has begun a task in this run
  std::atomic<bool> congested_ = false;
  std::int64_t primary_polled_ = 0, thread_pause_ = 0, thread_sleep_ = 0;  // ns
  std::vector<char> thread_results_;  // received by the MessageThread: the primary thread passes them to the consumer
  std::unique_ptr<MessageThread> message_thread_;  // the last member: it uses the others
};

}  // namespace steelyard::tasks

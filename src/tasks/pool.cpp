// SPDX-License-Identifier: BSD-3-Clause
// Pool: its runs.
#include "tasks/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/complaint.h"
#include "base/log.h"
#include "wait/back_off.h"

namespace steelyard::tasks {

Pool::~Pool() = default;

base::Status Pool::spawn(std::uint32_t function, std::uint64_t tag, const void* input, std::size_t bytes) {
  return primary().spawn(function, tag, rank(), input, bytes);
}

base::Status Pool::run(Consumer consumer) {
  if (broken_) return failure_status();
  if (running_ || in_task())
    return base::Status::failure(
        base::Code::invalid_state,
        "a run of a task pool was called in a task or by a consumer of results: the pool is in a run already");
  const Worker::Here here(primary());
  const std::int64_t start = now();
  begin_run(consumer);
  const TerminationRounds::Outcome outcome = work();
  end_run();
  totals_.run_seconds += base::seconds(now() - start);
  warn_of_missing_helpers();
  if (outcome != TerminationRounds::Outcome::failed) return {};
  abandon();
  return failure_status();
}

void Pool::begin_run(Consumer consumer) {
  consumer_ = consumer;
  outcome_.reset();
  running_ = true;
  warn_at_ = base::kFirstComplaint;
  team_.open();
  ++run_;
  if (!leaving_) policy_->run_begins(*this);
  arena_->process(transport_->node_rank()).entered.store(run_, std::memory_order_release);
  missing_ranks_->begin(run_);
  begun_ = false;
}

void Pool::end_run() {
  if (const auto locked = lock_messages(); locked) message_thread_->end();
  team_.close();
  for (const std::int64_t end = now(); !team_.empty();) wait(now() - end);
  team_.reopen();
  std::erase_if(requests_, [this](const Request& request) { return request.run <= run_; });
  for (Link& link : links_) link.forget();
  running_ = false;
  policy_->run_ends(*this);
}

void Pool::abandon() {
  broken_ = true;
  // MPI may deliver the messages about the failure only while this process calls it; dead neighbours never receive
  // them.
  constexpr std::int64_t kDrain = 10 * MissingRanks::kEvery;  // ns
  for (const std::int64_t end = now(); !send_queue_.empty() && now() - end < kDrain; send_queue_.step())
    wait(now() - end);
  transport_->abandon();
}

base::Status Pool::failure_status() const {
  constexpr const char* kAdvice =
      "tasks may be left undone; call run equally often on all ranks, then free the pool on all";
  const PoolFailure failure = PoolFailure::of(arena_->node().broken.load(std::memory_order_acquire));
  const std::uint64_t leaver = failure.exists() ? failure.leaver : termination_->leaver();
  if (failure.exists() && failure.died()) {
    return base::Status::failure(
        base::Code::peer,
        fmt::format("rank {} has ended while others use the task pool: tasks and results are lost, and the pool cannot "
                    "go on; see that rank's own output for the cause, and end the program with MPI_Abort",
                    leaver / 2 - 1));
  }
  const bool by_finalize = leaver % 2 == 1;
  if (finalizing_) {
    return base::Status::failure(
        base::Code::invalid_state,
        fmt::format("MPI_Finalize was called while a task pool was not freed and other ranks are in a run of it: {}",
                    kAdvice));
  }
  if (leaving_) {
    return base::Status::failure(base::Code::invalid_state,
                                 fmt::format("the task pool was freed while other ranks are in a run: {}", kAdvice));
  }
  return base::Status::failure(base::Code::peer,
                               fmt::format("rank {} has {} the task pool while others run it: {}", leaver / 2 - 1,
                                           by_finalize ? "called MPI_Finalize and not freed" : "freed", kAdvice));
}

void Pool::set_world_rank(int rank) {
  arena_->process(transport_->node_rank()).world.store(rank, std::memory_order_relaxed);
}

base::Status Pool::leave(bool finalizing) {
  if (broken_) return {};
  leaving_ = true;
  leaves_at_ = now();
  finalizing_ = finalizing;
  if (finalizing) {
    for (const auto& worker : workers_) worker->drop_all();
  }
  arena_->process(transport_->node_rank()).leaving.store(finalizing ? 2 : 1, std::memory_order_release);
  base::Status done = run({});
  for (const std::int64_t end = now(); done && !send_queue_.empty(); send_queue_.step()) wait(now() - end);
  if (finalizing) {  // its communicator ends with MPI
    broken_ = true;
    transport_->abandon();
  }
  return done;
}

/// Whether the primary thread looks for tasks, and since when. The other processes of the node see that it does.
class Pool::Idle {
 public:
  Idle(NodeBlock& node, ProcessBlock& process) : node_(node), process_(process) {}
  bool begun() const { return since_ != 0; }
  std::int64_t since() const { return since_; }
  void begin(std::int64_t time) {
    since_ = time;
    process_.idle.store(true, std::memory_order_relaxed);
    node_.idle_workers.fetch_add(1, std::memory_order_relaxed);
  }
  void end() {
    if (since_ == 0) return;
    since_ = 0;
    process_.idle.store(false, std::memory_order_relaxed);
    node_.idle_workers.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  NodeBlock& node_;
  ProcessBlock& process_;
  std::int64_t since_ = 0;  // ns; 0: it has tasks
};

TerminationRounds::Outcome Pool::work() {
  Worker& me = primary();
  ProcessBlock& process = arena_->process(transport_->node_rank());
  Idle idle(arena_->node(), process);
  Deque::Entry entry;
  std::int64_t time = now();
  for (;;) {
    // A process that is not idle takes its next task, or steals one in its node.
    if (!congested() && (me.pop(entry) || (!idle.begun() && steal(entry, false)))) {
      idle.end();
      if (!begun_) begin_first_task();
      time = me.execute(entry, time);
      if (time < next_poll_ && process.inbox.load(std::memory_order_relaxed) == 0) continue;
      if (!poll_between_tasks(time)) return *outcome_;
      time = now();
      next_poll_ = time + kPollEvery;
      continue;
    }
    const Found found = look_for_task(entry, idle, time);
    if (found == Found::end) return *outcome_;
    time = now();
    if (found == Found::look_again) continue;
    if (!begun_) begin_first_task();
    time = me.execute(entry, time);
  }
}

bool Pool::poll_between_tasks(std::int64_t time) {
  primary().publish();
  const auto locked = lock_messages();
  poll(time, false);
  if (outcome_) return false;
  if (!askable_.empty()) ask_ahead();
  return true;
}

Pool::Found Pool::look_for_task(Deque::Entry& entry, Idle& idle, std::int64_t time) {
  auto locked = lock_messages();
  if (!idle.begun()) {
    ask_again_ = 0;
    patience_ = kFirstPatience;
    victims_->restart();
    idle.begin(time);
  }
  poll(time, true);
  if (outcome_) {
    idle.end();
    return Found::end;
  }
  time = now();
  if (primary().queued() > 0 && !congested()) return Found::look_again;
  if (!congested()) {
    if (steal(entry, true) || (receiver_ != nullptr && receiver_->pop(entry))) {
      idle.end();
      withdraw();
      return Found::task;
    }
    ask(time);
  }
  warn_of_missing_ranks(time, time - idle.since());
  if (locked) locked.unlock();
  wait(time - idle.since());
  return Found::look_again;
}

// Workers of the node without a task. `idle_workers` includes the calling worker only if it is idle.
static std::size_t askers(const NodeBlock& node, bool is_idle) {
  const std::size_t idle = node.idle_workers.load(std::memory_order_relaxed);
  return is_idle ? std::max<std::size_t>(idle, 1) : idle + 1;
}

bool Pool::steal(Deque::Entry& entry, bool is_idle) {
  if (leaving_) return false;
  return primary().steal(entry, askers(arena_->node(), is_idle), settings_.fraction);
}

base::Status Pool::help(bool larger) {
  Team::Seat seat = team_.enter();
  for (const std::int64_t start = now(); seat.entry == Team::Entry::closing; seat = team_.enter()) wait(now() - start);
  if (seat.entry == Team::Entry::late) return {};
  if (seat.entry == Team::Entry::full && larger) return {};
  if (seat.entry == Team::Entry::full) {
    return base::Status::failure(
        base::Code::invalid_state,
        fmt::format(
            "helper {} came to a run of a task pool of options.threads = {}, one of which runs it: make it with "
            "more threads, or call help in fewer",
            seat.number, settings_.threads));
  }
  Worker& me = *workers_[static_cast<std::size_t>(seat.number)];
  const Worker::Here here(me);
  NodeBlock& node = arena_->node();
  Deque::Entry entry;
  std::int64_t time = now();
  std::int64_t idle_since = 0;
  while (!team_.over(seat.run)) {
    const bool backlog = handed_count_.load(std::memory_order_relaxed) >= settings_.outstanding;
    if (!backlog && (me.pop(entry) || me.steal(entry, askers(node, idle_since != 0), settings_.fraction))) {
      if (idle_since != 0) {
        node.idle_workers.fetch_sub(1, std::memory_order_relaxed);
        time = now();
        idle_since = 0;
      }
      time = me.execute(entry, time);
      me.publish();
      continue;
    }
    if (!me.outbox.empty()) hand_over(me);
    if (idle_since == 0) {
      idle_since = now();
      node.idle_workers.fetch_add(1, std::memory_order_relaxed);
    }
    wait(now() - idle_since);
  }
  if (idle_since != 0) node.idle_workers.fetch_sub(1, std::memory_order_relaxed);
  team_.leave();
  return {};
}

bool Pool::in_task() const {
  const Worker* here = Worker::here();
  return here != nullptr && &here->pool() == this && here->running();
}

void Pool::finish(Worker& worker, bool is_primary, const Record& record, const char* bytes) {
  if (!is_primary) {
    append(worker.outbox, record, bytes);
    if (worker.outbox.size() >= settings_.parcel || handed_count_.load(std::memory_order_relaxed) == 0)
      hand_over(worker);
  } else if (record.owner == rank()) {
    consume(record, bytes);
  } else if (message_thread_) {
    append(worker.outbox, record, bytes);
  } else {
    post(record, bytes);
  }
}

void Pool::post(const Record& record, const char* bytes) {
  router_.post(record, bytes);
  totals_.results_sent += 1;
  totals_.hops += static_cast<std::uint64_t>(way(record.owner).further) + 1;
}

void Pool::begin_first_task() {
  begun_ = true;
  const auto locked = lock_messages();
  missing_ranks_->announce();
  primary_polled_ = now();
  if (message_thread_) message_thread_->begin();
}

void Pool::hand_over(Worker& worker) {
  const std::lock_guard lock(handed_mutex_);
  handed_.push_back(std::move(worker.outbox));
  worker.outbox.clear();
  handed_count_.fetch_add(1, std::memory_order_release);
}

void Pool::wait(std::int64_t waited) {
  // Spins at first, as tasks may come at once, then sleeps ever longer and leaves the core to threads that work.
  transport_->waits(true);
  transport_->pause(wait::kTask.stage(waited) == wait::Stage::spin ? 0 : wait::kTask.sleep(waited));
  transport_->waits(false);
}

void Pool::warn_of_missing_ranks(std::int64_t time, std::int64_t waited) {
  const std::vector<int> missing = missing_ranks_->step(time, waited);
  if (waited < warn_at_ || missing.empty()) return;
  const std::int64_t after = std::exchange(warn_at_, base::next_complaint(warn_at_));
  const char* what = finalizing_ ? "MPI_Finalize, called while a task pool was not freed,"
                     : leaving_  ? "the freeing of a task pool"
                                 : "a task pool";
  base::warn(fmt::format("{} has been waiting for {} for {} s: {} not {}, which all ranks must do equally often", what,
                         base::list_of_ranks(missing), after / 1'000'000'000,
                         missing.size() == 1 ? "it has" : "they have", leaving_ ? "freed the pool" : "called run"));
}

void Pool::warn_of_missing_helpers() {
  if (settings_.threads == 1 || team_.has_helped() || primary().totals.executed == 0) return;
  if (!leaving_ && totals_.run_seconds < base::seconds(base::kFirstComplaint)) return;
  if (arena_->node().told_of_helpers.exchange(true, std::memory_order_relaxed)) return;
  base::warn(
      fmt::format("a task pool with options.threads = {} executes its tasks in one thread of each process: no other "
                  "thread has called steelyard_task_pool_help(). Call it in {} further thread{} during each run "
                  "(steelyard/tasks.h shows how), or create the pool with options.threads = 1",
                  settings_.threads, settings_.threads - 1, settings_.threads == 2 ? "" : "s"));
}

void Pool::yield(Worker& worker) {
  worker.publish();
  if (&worker != &primary() || !running_) return;
  const auto locked = lock_messages();
  poll(now(), false);
}

std::uint64_t Pool::spawned_here() const {
  const int first = arena_->first_worker(transport_->node_rank());
  std::uint64_t spawned = 0;
  for (int thread = 0; thread < settings_.threads; ++thread) {
    spawned += arena_->worker(first + thread).spawned.load(std::memory_order_relaxed);
  }
  return spawned;
}

const char* Pool::transport_in_use() const {
  if (placement().nodes() == 1) return "memory";
  return message_thread_ ? "messages and thread" : "messages";
}

Statistics Pool::statistics() const {
  Statistics all = totals_;
  for (const auto& worker : workers_) {
    all.executed += worker->totals.executed;
    all.stolen_local += worker->totals.stolen_local;
    all.stolen_remote += worker->totals.stolen_remote;
    all.busy_seconds += base::seconds(worker->totals.busy_ns);
  }
  all.spawned = spawned_here();
  all.threads = settings_.threads;
  all.runs = run_ - (leaving_ ? 1 : 0);
  all.termination_rounds = termination_->rounds();
  all.connections = static_cast<int>(connections_.size());
  std::vector<int> peers;
  for (const Routes::Link& link : duties_.links) {
    for (int local = 0; local < placement().node_size(link.node); ++local)
      peers.push_back(placement().rank(link.node, local));
  }
  all.degree = static_cast<int>(policy_->degree(*this, peers));
  return all;
}

}  // namespace steelyard::tasks

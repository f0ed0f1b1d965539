// SPDX-License-Identifier: BSD-3-Clause
// Pool: its messages to and from other nodes, and blocks from processes of its node.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tasks/pool.h"
#include "wait/back_off.h"

namespace steelyard::tasks {
namespace {

/// Time between looks for messages while tasks are executed, in ns: a thief gets its answer before it asks one more
/// victim. kReceiveRarely: on a single node, where messages contain only what shared memory cannot hold.
constexpr std::int64_t kReceiveEvery = kFirstPatience, kReceiveRarely = kLastPatience;

std::vector<char> bytes_of(const void* data, std::size_t size) {
  const char* const first = static_cast<const char*>(data);
  return {first, first + size};
}

/// The content of Kind::outcome.
struct Decided {
  TerminationRounds::Outcome outcome;
  std::uint64_t leaver;
};

/// True for messages that termination rounds count.
bool counted(Kind kind) { return kind != Kind::report && kind != Kind::outcome; }

}  // namespace

void Pool::use_message_thread() {
  if (receiver_ == nullptr) return;
  message_thread_ = std::make_unique<MessageThread>(messages_mutex_, [this] { return serve_by_thread(); });
  arena_->node().message_threads.store(true, std::memory_order_relaxed);
}

// Called by the MessageThread, with the mutex locked. Returns the time until the next call.
std::int64_t Pool::serve_by_thread() {
  const std::int64_t time = now();
  // An idle primary thread looks for messages after each sleep. If it has not done so for ten of the longest sleeps, it
  // is in a long task. A probe takes up to 25 us (src/wait/back_off.h), half a percent of these 5 ms.
  constexpr std::int64_t kLong = 10 * wait::kTask.longest;
  const std::int64_t left = primary_polled_ + kLong - time;
  if (left > 0) {
    // Without long tasks, the thread wakes rarely: after 5 ms at first, then after up to 64 times as long.
    thread_pause_ = kLastPatience / 2;
    thread_sleep_ = std::min(std::max(2 * thread_sleep_, kLong), 64 * kLong);
    return std::max(left, thread_sleep_ / 2);
  }
  thread_sleep_ = 0;
  message_arrived_ = false;
  on_message_thread_ = true;
  poll(time, false);
  on_message_thread_ = false;
  // Each probe takes CPU time of the core that executes the task: while no message comes, probes become rare.
  thread_pause_ = message_arrived_ ? kLastPatience : std::min(2 * thread_pause_, 8 * kLastPatience);
  return thread_pause_;
}

void Pool::take_over_from_thread() {
  primary_polled_ = now();
  Worker& me = primary();
  for_each_record(me.outbox.data(), me.outbox.size(), [this](const Record& record, const char* bytes) {
    post(record, bytes);
    return true;
  });
  me.outbox.clear();
  if (thread_results_.empty() || me.running()) return;
  const std::vector<char> results = std::exchange(thread_results_, {});
  for_each_record(results.data(), results.size(),
                  [this](const Record& record, const char* bytes) { return deliver(record, bytes); });
}

void Pool::poll(std::int64_t time, bool idle) {
  if (message_thread_ && !on_message_thread_) take_over_from_thread();
  collect_blocks();
  const bool alone = routes_.placement().nodes() == 1;
  if (time >= next_receive_ || (idle && !alone)) {
    receive_messages();
    // A probe finds messages that came before the last call of MPI, and lets MPI receive those that have come since.
    if (!idle) receive_messages();
    next_receive_ = time + (alone ? kReceiveRarely : kReceiveEvery);
  }
  router_.pump(idle || on_message_thread_);
  if (!requests_.empty()) serve();
  send_queue_.step();
  if (receiver_ != nullptr && receiver_->queued() > 0) {
    receiver_->publish();
    idle = false;
  }
  if (!outcome_) outcome_ = termination_->step(run_, idle && primary().queued() == 0, time);
  if (!outcome_) check_for_failure(time);
  congested_.store(router_.congested(), std::memory_order_relaxed);
}

void Pool::collect_blocks() {
  blocks_.clear();
  arena_->collect(transport_->node_rank(), blocks_);
  message_arrived_ = message_arrived_ || !blocks_.empty();
  for (const std::uint64_t block : blocks_) {
    Header header;
    const char* bytes = Heap::bytes(arena_->base(), block);
    std::memcpy(&header, bytes, sizeof(header));
    if (header.kind == Kind::acknowledge) {
      release(block);
      router_.acknowledged(header.from, header.further);
    } else {
      Router::Parcel parcel;
      parcel.from = header.from;
      parcel.block = block;
      parcel.further = header.further;
      parcel.records = bytes + sizeof(header);
      parcel.size = header.bytes;
      router_.arrive(std::move(parcel));
    }
  }
  if (handed_count_.load(std::memory_order_acquire) == 0 || router_.congested()) return;
  std::vector<std::vector<char>> handed;
  {
    const std::lock_guard lock(handed_mutex_);
    handed.swap(handed_);
    handed_count_.store(0, std::memory_order_relaxed);
  }
  for (std::vector<char>& records : handed) {
    Router::Parcel parcel;
    parcel.further = Router::kSource;
    parcel.size = records.size();
    parcel.bytes = std::move(records);
    router_.arrive(std::move(parcel));
  }
}

void Pool::release(std::uint64_t block) {
  WorkerBlock& owner = arena_->owner_of(block);
  if (receiver().has(owner)) {
    receiver().heap().give(block);
  } else {
    Heap::push(arena_->base(), owner.returned, block);
  }
}

void Pool::receive_messages() {
  int from = 0;
  std::size_t bytes = 0;
  while (transport_->arrived(from, bytes)) {  // ends, since each sender has few messages under way
    std::vector<char>& message = arriving_[from];
    const std::size_t before = message.size();
    message.resize(before + bytes);
    transport_->receive(message.data() + before, bytes);
    Header header;
    std::memcpy(&header, message.data(), sizeof(header));
    if (message.size() == sizeof(header) + header.bytes) read(from, std::exchange(message, {}));
  }
}

void Pool::read(int from, std::vector<char> message) {
  Header header;
  std::memcpy(&header, message.data(), sizeof(header));
  if (counted(header.kind)) {
    std::atomic<std::uint64_t>& received = arena_->process(transport_->node_rank()).received;
    received.store(received.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  connections_.insert(from);
  message_arrived_ = true;
  const char* bytes = message.data() + sizeof(header);
  switch (header.kind) {
    case Kind::request:
    case Kind::early_request:
    case Kind::withdrawal:
      std::erase_if(requests_, [&](const Request& held) { return held.rank == from && held.run == header.number; });
      if (header.kind != Kind::withdrawal)
        requests_.push_back({from, header.number, header.kind == Kind::early_request});
      break;
    case Kind::tasks: {
      if (header.further == 0) answered(from);  // the first message of the answer
      for_each_record(bytes, header.bytes, [this](const Record& record, const char* input) {
        receiver().receive(record, input);
        return true;
      });
      receiver().publish();
      break;
    }
    case Kind::results: {
      Router::Parcel parcel;
      parcel.from = from;
      parcel.further = header.further;
      parcel.size = header.bytes;
      parcel.bytes.assign(bytes, bytes + header.bytes);
      router_.arrive(std::move(parcel));
      break;
    }
    case Kind::acknowledge: router_.acknowledged(from, header.further); break;
    case Kind::policy: policy_->received(*this, from, header.number, bytes, header.bytes); break;
    case Kind::report: {
      TerminationRounds::Counts counts;
      std::memcpy(&counts, bytes, sizeof(counts));
      termination_->reported(counts);
      break;
    }
    case Kind::outcome: {
      Decided decided;
      std::memcpy(&decided, bytes, sizeof(decided));
      termination_->decided(header.number, decided.outcome, decided.leaver);
      break;
    }
    case Kind::leaves:
    case Kind::broken: failure_reported(header.kind, PoolFailure::of(header.number)); break;
    case Kind::missing_ranks: {
      MissingRanks::List absent(header.bytes / sizeof(MissingRanks::Absent));
      if (!absent.empty()) std::memcpy(absent.data(), bytes, header.bytes);
      missing_ranks_->received(from, header.number, header.further != 0, absent);
      break;
    }
  }
}

void Pool::send(int to, std::uint64_t run, const std::vector<char>& bytes) {
  send_message(to, Kind::policy, run, bytes);
}

void Pool::send_message(int to, Kind kind, std::uint64_t number, const std::vector<char>& bytes, int further) {
  if (counted(kind)) {
    std::atomic<std::uint64_t>& sent_messages = arena_->process(transport_->node_rank()).sent_messages;
    sent_messages.store(sent_messages.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  const Header header{kind, static_cast<std::uint16_t>(further), rank(), bytes.size(), number};
  std::vector<char> message(sizeof(header) + bytes.size());
  std::memcpy(message.data(), &header, sizeof(header));
  std::copy(bytes.begin(), bytes.end(), message.begin() + sizeof(header));
  connections_.insert(to);
  ++totals_.messages;
  send_queue_.send(to, std::move(message));
}

Routes::Way Pool::way(int owner) {
  if (owner != way_owner_) {
    last_way_ = routes_.way(rank(), owner);
    way_owner_ = owner;
  }
  return last_way_;
}

void Pool::carry(int to, int further, std::vector<char>& records) {
  const RankPlacement& placement = routes_.placement();
  const std::uint64_t block =
      placement.node(to) == placement.node(rank()) ? receiver().heap().take(sizeof(Header) + records.size()) : 0;
  if (block == 0) {  // another node, or no shared memory left
    send_message(to, Kind::results, run_, records, further);
    return;
  }
  const Header header{Kind::results, static_cast<std::uint16_t>(further), rank(), records.size(), run_};
  char* bytes = Heap::bytes(arena_->base(), block);
  std::memcpy(bytes, &header, sizeof(header));
  std::memcpy(bytes + sizeof(header), records.data(), records.size());
  arena_->post(placement.local(to), block);
}

void Pool::acknowledge(const Router::Parcel& parcel) {
  if (parcel.block == 0) {
    send_message(parcel.from, Kind::acknowledge, run_, {}, parcel.further);
    return;
  }
  // The acknowledgement is the block itself, sent back.
  const Header header{Kind::acknowledge, static_cast<std::uint16_t>(parcel.further), rank(), 0, run_};
  std::memcpy(Heap::bytes(arena_->base(), parcel.block), &header, sizeof(header));
  arena_->post(routes_.placement().local(parcel.from), parcel.block);
}

bool Pool::deliver(const Record& record, const char* bytes) {
  if (on_message_thread_) {
    append(thread_results_, record, bytes);
    return true;
  }
  // A consumer is not called while this thread is in a task.
  if (primary().running()) return false;
  consume(record, bytes);
  return true;
}

void Pool::consume(const Record& record, const char* bytes) {
  missing_ranks_->announce();
  if (consumer_.call != nullptr) {
    consumer_.call(consumer_.self, {record.tag, record.function, record.failed != 0, bytes, record.bytes});
  }
  primary().count_finished();
}

void Pool::TerminationSender::report(int to, std::uint64_t round, const TerminationRounds::Counts& counts) {
  pool.send_message(to, Kind::report, round, bytes_of(&counts, sizeof(counts)));
}

void Pool::TerminationSender::outcome(int to, std::uint64_t round, TerminationRounds::Outcome outcome,
                                      std::uint64_t leaver) {
  const Decided decided{outcome, leaver};
  pool.send_message(to, Kind::outcome, round, bytes_of(&decided, sizeof(decided)));
}

void Pool::MissingRanksSender::send_list(int to, bool question, const MissingRanks::List& absent) {
  pool.send_message(to, Kind::missing_ranks, pool.run_, bytes_of(absent.data(), absent.size() * sizeof(absent[0])),
                    question ? 1 : 0);
}

}  // namespace steelyard::tasks

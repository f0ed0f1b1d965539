// SPDX-License-Identifier: BSD-3-Clause
// The part of Pool that knows messages: it sends them, reads them, and answers requests for tasks.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tasks/pool.h"
#include "wait/back_off.h"

namespace steelyard::tasks {
namespace {

/// Between looks for messages while tasks are executed, in ns: a thief then gets its answer before it asks one more
/// victim. On a single node, where only what shared memory cannot hold is sent as a message, rarely.
constexpr std::int64_t kReceiveEvery = kFirstPatience, kReceiveRarely = kLastPatience;

std::vector<char> bytes_of(const void* data, std::size_t size) {
  const char* const first = static_cast<const char*>(data);
  return {first, first + size};
}

struct Decided {
  TerminationRounds::Outcome outcome;
  std::uint64_t leaver;
};

bool counted(Kind kind) { return kind != Kind::report && kind != Kind::outcome; }

}  // namespace

void Pool::use_message_thread() {
  if (receiver_ == nullptr) return;
  message_thread_ = std::make_unique<MessageThread>(messages_mutex_, [this] { return serve_by_thread(); });
  arena_->node().message_threads.store(true, std::memory_order_relaxed);
}

// By the MessageThread, with the mutex locked.
std::int64_t Pool::serve_by_thread() {
  const std::int64_t time = now();
  // An idle primary thread looks for messages after each sleep: after ten of the longest, it is in a long task. A probe
  // takes up to 25 us (src/wait/back_off.h), half a percent of these 5 ms.
  constexpr std::int64_t kLong = 10 * wait::kTask.longest;
  const std::int64_t left = primary_polled_ + kLong - time;
  if (left > 0) {
    // Without long tasks, the thread wakes rarely, too: after 5 ms, and then up to 64 times as long.
    thread_pause_ = kLastPatience / 2;
    thread_sleep_ = std::min(std::max(2 * thread_sleep_, kLong), 64 * kLong);
    return std::max(left, thread_sleep_ / 2);
  }
  thread_sleep_ = 0;
  heard_ = false;
  by_thread_ = true;
  poll(time, false);
  by_thread_ = false;
  // Each probe takes time of the core on which the task is executed: while no message comes, probes become rare.
  thread_pause_ = heard_ ? kLastPatience : std::min(2 * thread_pause_, 8 * kLastPatience);
  return thread_pause_;
}

void Pool::bring_home() {
  primary_polled_ = now();
  Worker& me = primary();
  for_each_record(me.outbox.data(), me.outbox.size(), [this](const Record& record, const char* bytes) {
    post(record, bytes);
    return true;
  });
  me.outbox.clear();
  if (home_.empty() || me.running()) return;
  const std::vector<char> home = std::exchange(home_, {});
  for_each_record(home.data(), home.size(),
                  [this](const Record& record, const char* bytes) { return deliver(record, bytes); });
}

void Pool::poll(std::int64_t time, bool idle) {
  if (message_thread_ && !by_thread_) bring_home();
  collect_blocks();
  const bool alone = routes_.places().nodes() == 1;
  if (time >= next_receive_ || (idle && !alone)) {
    receive_messages();
    // A probe finds what came before the last call of MPI, and advances what has come since.
    if (!idle) receive_messages();
    next_receive_ = time + (alone ? kReceiveRarely : kReceiveEvery);
  }
  router_.pump(idle || by_thread_);
  if (!requests_.empty()) serve();
  send_queue_.step();
  if (receiver_ != nullptr && receiver_->queued() > 0) {
    receiver_->publish();
    idle = false;
  }
  if (!outcome_) outcome_ = ending_->step(run_, idle && primary().queued() == 0, time);
  if (!outcome_) look_for_breach(time);
  congested_.store(router_.congested(), std::memory_order_relaxed);
}

void Pool::collect_blocks() {
  blocks_.clear();
  arena_->collect(transport_->node_rank(), blocks_);
  heard_ = heard_ || !blocks_.empty();
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
  while (transport_->arrived(from, bytes)) {  // each sender has few messages under way
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
  heard_ = true;
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
      ending_->reported(counts);
      break;
    }
    case Kind::outcome: {
      Decided decided;
      std::memcpy(&decided, bytes, sizeof(decided));
      ending_->decided(header.number, decided.outcome, decided.leaver);
      break;
    }
    case Kind::leaves:
    case Kind::broken: hear_of(header.kind, Breach::of(header.number)); break;
    case Kind::roll: {
      RollCall::List absent(header.bytes / sizeof(RollCall::Absent));
      if (!absent.empty()) std::memcpy(absent.data(), bytes, header.bytes);
      roll_call_->received(from, header.number, header.further != 0, absent);
      break;
    }
  }
}

void Pool::ask_only(const std::vector<std::uint32_t>& nodes) {
  std::vector<std::size_t> members;
  for (std::size_t link = 0; link < links_.size(); ++link) {
    if (std::ranges::binary_search(nodes, static_cast<std::uint32_t>(links_[link].node))) members.push_back(link);
  }
  set_askable(std::move(members));
}

void Pool::set_askable(std::vector<std::size_t> links) {
  askable_ = std::move(links);
  victims_.emplace(askable_.size(), static_cast<std::uint64_t>(rank()));
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
  const Places& places = routes_.places();
  const std::uint64_t block =
      places.node(to) == places.node(rank()) ? receiver().heap().take(sizeof(Header) + records.size()) : 0;
  if (block == 0) {  // another node, or no shared memory left
    send_message(to, Kind::results, run_, records, further);
    return;
  }
  const Header header{Kind::results, static_cast<std::uint16_t>(further), rank(), records.size(), run_};
  char* bytes = Heap::bytes(arena_->base(), block);
  std::memcpy(bytes, &header, sizeof(header));
  std::memcpy(bytes + sizeof(header), records.data(), records.size());
  arena_->post(places.local(to), block);
}

void Pool::acknowledge(const Router::Parcel& parcel) {
  if (parcel.block == 0) {
    send_message(parcel.from, Kind::acknowledge, run_, {}, parcel.further);
    return;
  }
  // The block itself goes back.
  const Header header{Kind::acknowledge, static_cast<std::uint16_t>(parcel.further), rank(), 0, run_};
  std::memcpy(Heap::bytes(arena_->base(), parcel.block), &header, sizeof(header));
  arena_->post(routes_.places().local(parcel.from), parcel.block);
}

bool Pool::deliver(const Record& record, const char* bytes) {
  if (by_thread_) {
    append(home_, record, bytes);
    return true;
  }
  // A consumer is not called in the middle of a task, which may be in the middle of anything.
  if (primary().running()) return false;
  consume(record, bytes);
  return true;
}

void Pool::consume(const Record& record, const char* bytes) {
  roll_call_->announce();
  if (consumer_.call != nullptr) {
    consumer_.call(consumer_.self, {record.tag, record.function, record.failed != 0, bytes, record.bytes});
  }
  primary().count_finished();
}

void Pool::EndingSender::report(int to, std::uint64_t round, const TerminationRounds::Counts& counts) {
  pool.send_message(to, Kind::report, round, bytes_of(&counts, sizeof(counts)));
}

void Pool::EndingSender::outcome(int to, std::uint64_t round, TerminationRounds::Outcome outcome,
                                 std::uint64_t leaver) {
  const Decided decided{outcome, leaver};
  pool.send_message(to, Kind::outcome, round, bytes_of(&decided, sizeof(decided)));
}

void Pool::RollSender::send_list(int to, bool question, const RollCall::List& absent) {
  pool.send_message(to, Kind::roll, pool.run_, bytes_of(absent.data(), absent.size() * sizeof(absent[0])),
                    question ? 1 : 0);
}

// One neighbour at first; while none answers, one more, and one more. A request stays with the victim until it has
// tasks to give, so that no process asks twice.
void Pool::ask(std::int64_t time) {
  if (leaving_ || time < ask_again_) return;
  ask_again_ = time + patience_;
  patience_ = next_patience(patience_);
  request_more();
}

// While there is something to do yet, one victim is enough, and it gives only what it can spare.
void Pool::ask_ahead() {
  Worker& me = primary();
  const std::size_t ahead = amount_ahead(me.ns_per_task());
  if (leaving_ || me.queued() > ahead ||
      std::ranges::any_of(links_, [](const Link& link) { return !link.asked.empty(); }))
    return;
  if (me.in_reach() <= ahead * static_cast<std::size_t>(arena_->workers())) request_ahead();
}

void Pool::request_ahead() {
  for (std::size_t tries = 0; tries < askable_.size(); ++tries) {
    Link& link = links_[askable_[victims_->next()]];
    if (link.server == transport_->node_rank()) return send_request(link, link.first, Asked::early);
  }
}

// A process that executes a task neither asks nor answers. So an idle process of its node asks over its links. After
// all neighbours it asks other processes of their nodes: a process that executes shorter tasks answers earlier.
void Pool::request_more() {
  Link* fewest = nullptr;
  for (std::size_t tries = 0; tries < askable_.size(); ++tries) {
    Link& link = links_[askable_[victims_->next()]];
    if (!asks_over(link)) continue;
    if (link.how != Asked::yes) return send_request(link, link.first, Asked::yes);
    const bool more = link.asked.size() < static_cast<std::size_t>(places().node_size(link.node));
    if (more && (fewest == nullptr || link.asked.size() < fewest->asked.size())) fewest = &link;
  }
  if (fewest == nullptr || patience_ < kLastPatience) return;
  const int size = places().node_size(fewest->node);
  const int next = (places().local(fewest->first) + static_cast<int>(fewest->asked.size())) % size;
  send_request(*fewest, places().rank(fewest->node, next), Asked::yes);
}

bool Pool::asks_over(const Link& link) const {
  const int me = transport_->node_rank();
  for (int local = link.server; local != me; local = (local + 1) % arena_->processes()) {
    if (arena_->process(local).idle.load(std::memory_order_relaxed)) return false;
  }
  return true;
}

void Pool::send_request(Link& link, int rank, Asked how) {
  link.how = how;
  if (std::ranges::find(link.asked, rank) == link.asked.end()) link.asked.push_back(rank);
  send_message(rank, how == Asked::early ? Kind::early_request : Kind::request, run_, {});
}

// The other victims that were asked would send more tasks than are needed, which other processes then would have to
// steal.
void Pool::answered(int rank) {
  const auto link = std::ranges::find(links_, places().node(rank), &Link::node);
  std::erase(link->asked, rank);
  withdraw();
  link->first = rank;
  const auto victim = std::ranges::lower_bound(askable_, static_cast<std::size_t>(link - links_.begin()));
  victims_->gave(static_cast<std::size_t>(victim - askable_.begin()));
}

void Pool::withdraw() {
  for (Link& link : links_) {
    for (const int rank : link.asked) send_message(rank, Kind::withdrawal, run_, {});
    link.forget();
  }
}

void Pool::serve() {
  std::size_t askers = requests_.size();
  std::erase_if(requests_, [this, &askers](const Request& request) {
    return request.run < run_ || (request.run == run_ && give_to(request, askers--));  // a thief may be a run ahead
  });
}

// MPI brings large messages only while their sender is in MPI, too. A thief has nothing else to do than to receive, so
// that it costs less to stay until it has than to leave it waiting for the length of a task.
void Pool::drain_sends() {
  for (const std::int64_t end = now() + kLastPatience; !send_queue_.empty() && now() < end; send_queue_.step())
    transport_->pause(wait::kTask.shortest);
}

bool Pool::give_to(const Request& request, std::size_t askers) {
  // One task is for itself, unless it is in a long one, and workers of this node that look for tasks come first. A
  // thief that still has tasks gets what is more than enough here for a while.
  Worker& me = receiver();
  std::size_t here = (by_thread_ ? 0 : 1) + arena_->node().asleep.load(std::memory_order_relaxed);
  if (request.early)
    here = std::max(here, amount_ahead(me.ns_per_task()) * static_cast<std::size_t>(arena_->workers()));
  const std::size_t available = me.in_reach();
  if (available <= here) return false;
  std::size_t amount = policy_->amount(available - here, askers, settings_.fraction);
  std::vector<Deque::Entry> given;
  std::vector<char> bytes;
  std::size_t sent = 0;
  int messages = 0;
  // Few at first: only what they have in them tells how many make a message.
  for (std::size_t part = 1; amount > 0 && sent + bytes.size() < kMostGiven; part *= 2) {
    given.clear();
    me.give(std::min(amount, part), given);
    if (given.empty()) break;
    amount -= std::min(amount, given.size());
    for (const Deque::Entry& entry : given) {
      const Task& task = entry.task;
      append(bytes, Record{task.tag, task.owner, task.bytes, task.function, 0}, me.input_of(entry));
      me.release_input(entry);
      ++totals_.given_far;
      if (bytes.size() < kMessageBytes) continue;
      send_message(request.rank, Kind::tasks, run_, bytes, messages++);
      sent += std::exchange(bytes, {}).size();
    }
  }
  if (!bytes.empty()) send_message(request.rank, Kind::tasks, run_, bytes, messages);
  if (sent + bytes.size() == 0) return false;
  drain_sends();
  return true;
}

}  // namespace steelyard::tasks

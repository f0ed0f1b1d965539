// SPDX-License-Identifier: BSD-3-Clause
// Pool: its requests for tasks to processes of other nodes, and its answers to theirs.
#include <algorithm>
#include <utility>

#include "tasks/pool.h"
#include "wait/back_off.h"

namespace steelyard::tasks {

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

// Asks one neighbour at first and, while none answers, one more each time. The victim keeps a request until it has
// tasks to give, so no process asks twice.
void Pool::ask(std::int64_t time) {
  if (leaving_ || time < ask_again_) return;
  ask_again_ = time + patience_;
  patience_ = next_patience(patience_);
  request_more();
}

// Asks while there are still tasks to do: one victim is enough, and it gives only what it can spare.
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

// A process that executes a task neither asks nor answers, so an idle process of its node asks over its links. After
// all neighbours, it asks other processes of their nodes: one with shorter tasks answers earlier.
void Pool::request_more() {
  Link* fewest = nullptr;
  for (std::size_t tries = 0; tries < askable_.size(); ++tries) {
    Link& link = links_[askable_[victims_->next()]];
    if (!asks_over(link)) continue;
    if (link.how != Asked::yes) return send_request(link, link.first, Asked::yes);
    const bool more = link.asked.size() < static_cast<std::size_t>(placement().node_size(link.node));
    if (more && (fewest == nullptr || link.asked.size() < fewest->asked.size())) fewest = &link;
  }
  if (fewest == nullptr || patience_ < kLastPatience) return;
  const int size = placement().node_size(fewest->node);
  const int next = (placement().local(fewest->first) + static_cast<int>(fewest->asked.size())) % size;
  send_request(*fewest, placement().rank(fewest->node, next), Asked::yes);
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

// Withdraws the requests to other victims: they would send more tasks than this process needs.
void Pool::answered(int rank) {
  const auto link = std::ranges::find(links_, placement().node(rank), &Link::node);
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
    return request.run < run_ ||
           (request.run == run_ && give_to(request, askers--));  // a thief may already be in the next run
  });
}

// MPI delivers large messages only while their sender calls MPI. An idle thief receives at once, so waiting for it
// takes less time than it would wait if this process began a task.
void Pool::drain_sends() {
  for (const std::int64_t end = now() + kLastPatience; !send_queue_.empty() && now() < end; send_queue_.step())
    transport_->pause(wait::kTask.shortest);
}

bool Pool::give_to(const Request& request, std::size_t askers) {
  // Tasks for this node: one for this process, unless it is in a long task, and one for each idle worker. If the thief
  // still has tasks, as many as this node executes in a while.
  Worker& me = receiver();
  std::size_t here = (on_message_thread_ ? 0 : 1) + arena_->node().idle_workers.load(std::memory_order_relaxed);
  if (request.early)
    here = std::max(here, amount_ahead(me.ns_per_task()) * static_cast<std::size_t>(arena_->workers()));
  const std::size_t available = me.in_reach();
  if (available <= here) return false;
  std::size_t amount = policy_->amount(available - here, askers, settings_.fraction);
  std::vector<Deque::Entry> given;
  std::vector<char> bytes;
  std::size_t sent = 0;
  int messages = 0;
  // Few at first: their sizes tell how many fill a message.
  for (std::size_t part = 1; amount > 0 && sent + bytes.size() < kMostGiven; part *= 2) {
    given.clear();
    me.give(std::min(amount, part), given);
    if (given.empty()) break;
    amount -= std::min(amount, given.size());
    for (const Deque::Entry& entry : given) {
      const Task& task = entry.task;
      append(bytes, Record{task.tag, task.owner, task.bytes, task.function, 0}, me.input_of(entry));
      me.release_input(entry);
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

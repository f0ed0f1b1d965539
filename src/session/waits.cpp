// SPDX-License-Identifier: BSD-3-Clause
#include "session/waits.h"

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "base/complaint.h"
#include "session/other_regions.h"
#include "session/session.h"
#include "session/state.h"
#include "session/worksharing.h"
#include "wait/back_off.h"

namespace steelyard::session {

using base::now_ns;

namespace {

// The critical rank of a shorter wait is not looked up: most of it is the library's own work. ns: to look it up costs a
// cache miss for each member.
constexpr std::int64_t kWorthNaming = 2'000;
// ns: with more threads than cores, a longer wait in a collective sleeps, at first for 1 ms. Quicksilver, 2 ranks x 2
// threads on 2 cores: 0.82 of the time with yields (`bench-apps`, 2x2).
constexpr std::int64_t kLeavesTheCore = wait::kArrival.longest;
// A longer wait goes on in the MPI library, so that no program hangs should arrivals ever be miscounted.
constexpr std::int64_t kLongestWait = base::kFirstComplaint;

std::atomic<int> g_windows{0};  // those of the program that are alive
std::atomic<bool> g_windows_seen{false};

bool may_sleep(const Session& session) { return session.sleeps && g_windows.load(std::memory_order_relaxed) == 0; }

bool others_compute(const Session& session) {
  for (int p = 0; p < session.count; ++p) {
    if (p == session.me) continue;
    const node::Process& process = session.processes[p];
    if (process.in_mpi.load(std::memory_order_relaxed) == 0 && process.finished.load(std::memory_order_relaxed) == 0)
      return true;
  }
  return false;
}

// A rank that sleeps notices its message late, and advances no others: it sleeps while another rank uses its core. All
// threads of an emulated node share the machine's cores. With more threads than cores (slots), the others that might
// use the core are ready to run, so it yields to them: a sleep would take the core from them again 50 us later. With 8
// ranks on 2 cores (bench-apps, Open MPI), LULESH takes 1.00 of its native time, with sleeps 1.24. A rank that yields
// still takes time slices from them: in a long wait in a collective, it sleeps (kLeavesTheCore).
bool core_is_used(const Session& session) {
  if (session.topology.emulated) return others_compute(session);
  return lends(session) && !session.cores->slots() && session.cores->others_use();
}

bool more_threads_than_cores(const Session& session) {
  return session.count > session.node_cores || (session.cores != nullptr && session.cores->oversubscribed());
}

}  // namespace

bool measures_this_call() { return g_session != nullptr && t_primary && !in_region(); }

RegionCall::RegionCall() : begin_(g_session != nullptr && present_cell() != nullptr ? event_ns() : 0) {}

RegionCall::~RegionCall() {
  observe::ThreadCell* const cell = present_cell();
  if (begin_ == 0 || cell == nullptr) return;
  observe::Activity::was_in_mpi(*cell, event_ns() - begin_);
  if (t_primary && g_session != nullptr) g_session->activity.count_mpi_call();
}

BlockingCall::BlockingCall(std::uint64_t site) : site_(site | 1), begin_(event_ns()) {
  Session& session = *g_session;
  respect_other_threads(session);
  history_ = &session.waits.sites.at(site_);
  session.activity.enter_mpi(begin_);
  session.processes[session.me].in_mpi.store(1, std::memory_order_relaxed);
  if (lends(session) || (session.cores != nullptr && !session.held && session.cores->must_leave()))
    session.cores->before_call(begin_);
  const observe::Site& history = *history_;
  short_ = history.executions > 2 && history.mean_ns < kShortWait;
  usual_end_ = history.executions > 2 ? begin_ + static_cast<std::int64_t>(history.mean_ns) : 0;
  // Where waits are short, twice their usual length is given before the core is left.
  const auto spin = static_cast<float>(base::options().spin * 1000);
  spin_until_ = begin_ + static_cast<std::int64_t>(short_ ? std::max(spin, 2 * history.mean_ns) : spin);
}

BlockingCall::~BlockingCall() {
  Session& session = *g_session;
  if (lent_) come_back();
  if (unsure_ && session.arrivals->missing(*group_) >= 0) group_->trusted = false;
  const std::int64_t now = ended();
  if (now - begin_ > kWorthNaming) name_critical_rank();
  session.activity.leave_mpi(now);
  session.processes[session.me].in_mpi.store(0, std::memory_order_relaxed);
  session.waits.last_end = now;
  session.regions.since_call = 0;
  history_->add(now - begin_);
  if (waited_for_ >= 0 && session.pause.begin == 0)
    session.waits.waited_for[waited_for_] += base::seconds(now - begin_);
  sample(session, now);
  // The rank that came last had no slack, however long its call took.
  if (step_mark_ || needs_all_) waited_in_collective(came_last_ ? 0 : now - begin_);
  if (step_mark_) consider_plans(session, now);
}

std::int64_t BlockingCall::ended() {
  if (end_ == 0) end_ = event_ns();
  return end_;
}

// Known even if the wait was in the MPI library.
void BlockingCall::name_critical_rank() {
  const Session& session = *g_session;
  if (needs_all_) {
    const int last = session.arrivals->last(*group_);
    came_last_ = last == session.me;
    if (last >= 0) waited_for_ = came_last_ ? -1 : session.processes[last].world_rank;
  } else if (feeder_ >= 0 && session.arrivals->when(*group_, feeder_) > begin_) {
    waited_for_ = session.processes[feeder_].world_rank;
  }
}

void BlockingCall::waited_for(int world_rank) { waited_for_ = world_rank; }

void BlockingCall::is_step_mark() {
  step_mark_ = true;
  Session& session = *g_session;
  if (session.cores == nullptr) return;
  if (session.leader) session.steps.collective_period.tick(site_);
  publish_tick(session, observe::TickSource::collective, begin_);
}

// Node rank of the process that this call waits for.
int BlockingCall::source() const {
  if (feeder_ >= 0) return feeder_;
  if (needs_all_ || waited_for_ < 0) return cores::Wait::kUnknown;
  const int process = node_rank(*g_session, waited_for_);
  return process >= 0 ? process : cores::Wait::kUnknown;
}

// No member continues until all have arrived, and a rank that computes has not. Other waits end as they usually do, or
// take as long again as they have taken.
std::int64_t BlockingCall::expected_end(std::int64_t now) const {
  const bool for_all = needs_all_ && static_cast<int>(group_->members.size()) == g_session->count;
  return for_all ? INT64_MAX : std::max(usual_end_, now + (now - begin_));
}

// The first call in a wait lends the cores, if they are to be lent; later calls extend the wait.
void BlockingCall::lend(std::int64_t now) {
  Session& session = *g_session;
  if (!lends(session)) return;
  if (session.regions.foreign.load(std::memory_order_relaxed)) {
    if (lent_) come_back();  // another thread has begun a region since, on these cores
    return respect_other_threads(session);
  }
  if (lent_) return session.cores->expect_wait(now, expected_end(now));
  lent_ = true;
  lent_since_ = now;
  session.cores->lend(now, {.source = source(), .until = expected_end(now)});
}

void BlockingCall::come_back() {
  lent_ = false;
  Session& session = *g_session;
  session.activity.lent((now_ns() - lent_since_) * session.cores->lent_in_waits());
  session.cores->come_back();
  session.cores->return_to_own_core();
}

// For how long another rank has used a core of this one, in ns; -1 if none does.
std::int64_t BlockingCall::core_used_for(std::int64_t now) {
  Session& session = *g_session;
  const bool was_used = core_used_since_ != 0;
  if (core_is_used(session)) {
    if (!was_used) core_used_since_ = now;
    return now - core_used_since_;
  }
  core_used_since_ = 0;
  // The last sleep may have ended on another rank's core.
  if (was_used && session.cores != nullptr) session.cores->return_to_own_core();
  return -1;
}

bool BlockingCall::pause() {
  const std::int64_t now = now_ns();
  if (!may_sleep(*g_session) || now < spin_until_) {
    wait::relax();
    return false;
  }
  lend(now);
  const std::int64_t used_for = core_used_for(now);
  used_for >= 0 ? wait::sleep_for(wait::kMessage.sleep(used_for)) : wait::yield();
  return true;
}

void progress() {
  if (const Session* session = g_session; session != nullptr) session->bootstrap->progress();
}

void window_made() {
  g_windows.fetch_add(1, std::memory_order_relaxed);
  g_windows_seen.store(true, std::memory_order_relaxed);
}
bool windows_seen() { return g_windows_seen.load(std::memory_order_relaxed); }
void window_freed() { g_windows.fetch_sub(1, std::memory_order_relaxed); }

namespace {

// The rank that completes what others wait for recalls their cores before they wake up.
void recall_waiting(Session& session, const node::Arrivals::Group& group) {
  for (const int member : group.members) {
    if (member != session.me) session.cores->recall(member);
  }
}

}  // namespace

bool BlockingCall::arrive(CommunicatorOnNode* communicator, Dependence dependence, int root) {
  Session& session = *g_session;
  node::Arrivals::Group& group = *communicator;
  node::Arrivals& arrivals = *session.arrivals;
  const int root_process = root < 0 ? -1 : group.member_of_rank[static_cast<std::size_t>(root)];
  group_ = &group;
  needs_all_ = dependence == Dependence::all || dependence == Dependence::barrier;
  if (dependence == Dependence::root && group.trusted) feeder_ = root_process;
  // Where waits are short, or leave no core to others, the library's own polling is as good, and the others' cache
  // lines stay with them. With more threads than cores, a rank that polls takes time slices from those that compute,
  // even if it yields. And as the library's barrier wakes one rank after the other, its last one waits for time slices.
  const bool barrier = dependence == Dependence::barrier;
  const bool crowded = more_threads_than_cores(session);
  const bool gains = crowded || lends(session) || session.topology.emulated;
  const bool waits = gains && !short_ && group.trusted && (needs_all_ || feeder_ >= 0);
  const bool may_end = barrier && waits && group.whole && may_sleep(session);
  arrivals.arrive(group, begin_, may_end);
  const bool watched = lends(session) && arrivals.watched(group);
  const bool is_last = (watched || (waits && needs_all_)) && arrivals.missing(group) < 0;
  const bool feeds_all = dependence == Dependence::none && root_process == session.me;
  if (lends(session) && (is_last || feeds_all)) recall_waiting(session, group);
  // The kernel may have put one of the woken ranks behind this one, which is about to poll for it. The last rank of a
  // barrier that ends here polls for none: it is on the critical path and goes on ahead of those that it wakes.
  if (arrivals.wake(group, needs_all_) && !(is_last && may_end)) wait::yield();
  if (waits && !is_last) await_arrivals(crowded, barrier);
  const bool ends = may_end && arrivals.ends_here(group);
  if (ends) session.bootstrap->progress();  // as the library would have done in its barrier
  return ends;
}

void BlockingCall::await_arrivals(bool crowded, bool barrier) {
  Session& session = *g_session;
  const node::Arrivals::Group& group = *group_;
  const auto missing = [&] {
    if (needs_all_) return session.arrivals->missing(group);
    return session.arrivals->here(group, feeder_) ? -1 : feeder_;
  };
  std::int64_t idle_since = 0;
  for (int late = missing(); late >= 0; late = missing()) {
    waited_for_ = session.processes[late].world_rank;
    const std::int64_t now = now_ns();
    if (!may_sleep(session)) return;
    if (now < spin_until_) {
      wait::relax();
      continue;
    }
    // If no other rank computes, nor will as soon as it is woken, none needs this core, and the library may have to
    // advance messages for which the missing ranks wait.
    if (others_compute(session)) {
      idle_since = 0;
    } else if (idle_since == 0) {
      idle_since = now;
    } else if (now - idle_since > wait::kAtWork) {
      return;
    }
    lend(now);
    const std::int64_t waited = now - spin_until_;
    if (waited > kLongestWait) {
      unsure_ = true;
      return;
    }
    // A late rank in another call may wait for a message that this one has to advance. Barriers sleep all the same, as
    // the library's would be slow.
    const bool computes = session.processes[late].in_mpi.load(std::memory_order_relaxed) == 0;
    const bool sleeps = crowded && (barrier || (computes && waited > kLeavesTheCore));
    const std::int64_t sleeping_for = sleeps ? waited : core_used_for(now);
    if (sleeping_for >= 0)
      session.arrivals->sleep(group, wait::kArrival.sleep(sleeping_for), [&] { return missing() < 0; });
    else
      wait::yield();
    session.bootstrap->progress();
  }
  if (lent_) come_back();
}

void wait_begins(bool quiesced) {
  if (g_session == nullptr) return;
  if (in_region()) return barrier_begin();  // of the team; it is a thread that waits, not the process
  if (t_primary) g_session->activity.begin_wait(now_ns(), quiesced);
}

void wait_ends() {
  if (g_session == nullptr) return;
  if (in_region()) return barrier_end();
  if (!t_primary) return;
  const std::int64_t now = now_ns();
  g_session->activity.end_wait(now);
  sample(*g_session, now);
}

}  // namespace steelyard::session

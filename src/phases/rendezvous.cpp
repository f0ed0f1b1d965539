// SPDX-License-Identifier: BSD-3-Clause
#include "phases/rendezvous.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/clock.h"
#include "base/complaint.h"
#include "base/log.h"
#include "node/binding.h"
#include "wait/back_off.h"

namespace steelyard::phases {
namespace {

constexpr int kMostAsleep = 1024;       // meetings without a yield, where none has helped for long
constexpr std::uint32_t kWatchers = 2;  // the first to come: if one of them dies, the other sees it
constexpr std::int64_t kLookAround = wait::kMeeting.longest;  // between two looks for the dead

// Encoding: a note of a call. Its turn in the lowest 24 bits (a gate's turns differ by 4: those before it are no
// other's), the member in 12, the kind in 4, what else in 24.
constexpr std::uint64_t kTurnMask = (std::uint64_t{1} << 24) - 1;
std::uint64_t pack(std::uint64_t turn, Call call, int member) {
  return (turn & kTurnMask) | (static_cast<std::uint64_t>(member) & 0xfff) << 24 |
         static_cast<std::uint64_t>(call.kind) << 36 | std::uint64_t{call.what} << 40;
}
bool is_of(std::uint64_t note, std::uint64_t turn) { return note != 0 && (note & kTurnMask) == (turn & kTurnMask); }
std::size_t member_of(std::uint64_t note) { return note >> 24 & 0xfff; }
Call call_of(std::uint64_t note) {
  return {static_cast<Call::Kind>(note >> 36 & 0xf), static_cast<std::uint32_t>(note >> 40)};
}

/// The word of a turn's gate while the turn is in progress and not refused.
std::uint32_t word_before(std::uint64_t turn) {
  return static_cast<std::uint32_t>(2 * ((turn - Gate::kFirst) / Shared::kGates));
}
bool is_complete(const Shared& shared, std::uint64_t turn) {
  if (turn < Gate::kFirst) return true;
  const std::uint32_t word = shared.gates[turn % Shared::kGates].word.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(word - word_before(turn)) >= 2;
}

// A refusal of a turn before this one: its turn number comes again after 2^24 turns.
void forget_refusal(Gate& gate, std::uint64_t turn) {
  std::uint64_t refused = gate.refused.load(std::memory_order_relaxed);
  if (refused != 0 && !is_of(refused, turn)) gate.refused.compare_exchange_strong(refused, 0);
}

std::string_view name_of(Call::Kind kind) {
  switch (kind) {
    case Call::Kind::barrier: return "steelyard_node_barrier";
    case Call::Kind::enter: return "steelyard_phase_enter";
    case Call::Kind::leave: return "steelyard_phase_leave";
    case Call::Kind::gather: return "steelyard_phase_gather";
    case Call::Kind::scatter: return "steelyard_phase_scatter";
    case Call::Kind::exchange: return "an exchange of data";
    case Call::Kind::finalize: break;
  }
  return "MPI_Finalize";
}

base::Status peer_finalized(int rank) {
  return base::Status::failure(base::Code::peer,
                               fmt::format("rank {} has called MPI_Finalize and makes no further collective call of "
                                           "this context: call MPI_Finalize after the last "
                                           "of them, in all processes",
                                           rank));
}

}  // namespace

void sign(Member& member) {
  member.life = node::own_life();
  member.turn.store(Gate::kFirst, std::memory_order_relaxed);
}

Rendezvous::Rendezvous(Shared& shared, std::span<Member> members, int me, Lost lost)
    : shared_(shared),
      members_(members),
      me_(me),
      crowded_(static_cast<long>(members.size()) > sysconf(_SC_NPROCESSORS_ONLN)),
      lost_(std::move(lost)) {}

// A process that was refused a turn comes to the next one without a call.
Rendezvous::Arrival Rendezvous::come(const Call* call) {
  const std::uint64_t turn = this->turn();
  Gate& gate = this->gate(turn);
  if (!is_complete(shared_, turn - 2)) wait_for_place(turn, call);
  if (call != nullptr) {
    const std::uint64_t noted = pack(turn, *call, me_);
    std::uint64_t first = gate.call.load(std::memory_order_acquire);
    if (!is_of(first, turn) && gate.call.compare_exchange_strong(first, noted, std::memory_order_acq_rel)) {
      first = noted;
      forget_refusal(gate, turn);
    }
    if (call_of(first) != call_of(noted)) refuse(turn, noted);
  }
  mine().turn.store(turn + 1, std::memory_order_relaxed);
  const std::uint32_t before = gate.arrived.fetch_add(1, std::memory_order_acq_rel);
  if (before + 1 != members_.size()) return before < kWatchers ? Arrival::watches : Arrival::waits;
  gate.arrived.store(0, std::memory_order_relaxed);
  gate.opened_at.store(base::now_ns(), std::memory_order_relaxed);
  gate.opened_on.store(sched_getcpu(), std::memory_order_relaxed);
  gate.word.store(word_before(turn) + 2);
  if (gate.sleepers.load() != 0) wait::wake_all(gate.word);
  return Arrival::opens;
}

// Only after turns that were refused: some have left them, while others have not come yet.
void Rendezvous::wait_for_place(std::uint64_t turn, const Call* call) {
  const Waiting waiting{turn, turn - 2, call == nullptr ? Call() : *call, true};
  complain_at_ = base::kFirstComplaint;
  const std::int64_t start = base::now_ns();
  while (!is_complete(shared_, turn - 2) && shared_.finalized.load(std::memory_order_relaxed) == 0) {
    const std::int64_t waited = base::now_ns() - start;
    wait::sleep_for(wait::kSetUp.sleep(waited));
    complain(waiting, waited);
    look_for_the_dead();
  }
}

void Rendezvous::refuse(std::uint64_t turn, std::uint64_t noted) {
  for (const std::uint64_t refused : {turn, turn + 1}) {
    Gate& gate = this->gate(refused);
    std::uint64_t before = gate.refused.load();
    const std::uint64_t with_turn = (noted & ~kTurnMask) | (refused & kTurnMask);
    while (!is_of(before, refused) && !gate.refused.compare_exchange_weak(before, with_turn)) continue;
    std::uint32_t word = word_before(refused);
    gate.word.compare_exchange_strong(word, word + 1);
    if (gate.sleepers.load() != 0) wait::wake_all(gate.word);
  }
}

bool Rendezvous::is_refused(std::uint64_t turn) const { return is_of(gate(turn).refused.load(), turn); }

base::Status Rendezvous::outcome(std::uint64_t turn) {
  if (!is_refused(turn)) return {};
  base::Status refused = reason(turn);
  if (shared_.finalized.load() == 0) come(nullptr);
  return refused;
}

base::Status Rendezvous::reason(std::uint64_t turn) const {
  const std::uint64_t noted = gate(turn).refused.load(), first = gate(turn).call.load();
  const Call call = call_of(noted), other = call_of(first);
  const auto rank = [this](std::uint64_t note) { return members_[member_of(note)].world; };
  if (call.kind == Call::Kind::finalize) return peer_finalized(rank(noted));
  return base::Status::failure(
      base::Code::mismatch,
      fmt::format("rank {} calls {}(){} where rank {} calls {}(): the call is refused at all processes of the node, "
                  "which must make the "
                  "same collective calls in the same order",
                  rank(noted), name_of(call.kind), call.kind == other.kind ? " of another phase" : "", rank(first),
                  name_of(other.kind)));
}

base::Status Rendezvous::someone_finalized() const {
  const std::int32_t member = shared_.finalized.load(std::memory_order_relaxed);
  if (member == 0) return {};
  return peer_finalized(members_[static_cast<std::size_t>(member - 1)].world);
}

void Rendezvous::finalize() {
  std::int32_t none = 0;
  shared_.finalized.compare_exchange_strong(none, me_ + 1);
  refuse(turn(), pack(turn(), {Call::Kind::finalize, 0}, me_));
}

base::Status Rendezvous::arrive(Call call) {
  if (base::Status all = someone_finalized(); !all) return all;
  const std::uint64_t turn = this->turn();
  come(&call);
  return outcome(turn);
}

base::Status Rendezvous::meet(Call call, Wait wait) {
  if (base::Status all = someone_finalized(); !all) return all;
  const std::uint64_t turn = this->turn();
  // All processes that wait for a phase to begin look around: those that came before may have gone on.
  Arrival arrival = come(&call);
  if (arrival == Arrival::waits && call.kind == Call::Kind::enter) arrival = Arrival::watches;
  wait_in({turn, turn, call, wait == Wait::brief}, arrival, wait);
  return outcome(turn);
}

base::Status Rendezvous::leave(Call call, Wait wait, std::uint64_t begin) {
  if (is_refused(begin)) return outcome(begin);
  const std::uint64_t turn = this->turn();
  const Arrival arrival = come(&call);
  // The chosen processes may work for long. But they do not begin while a process has not entered.
  wait_in({turn, begin, call, true}, arrival, wait);
  return is_refused(begin) ? reason(begin) : outcome(turn);
}

void Rendezvous::wait_in(const Waiting& waiting, Arrival arrival, Wait wait) {
  Gate& gate = this->gate(waiting.turn);
  const std::uint32_t seen = word_before(waiting.turn);
  if (arrival == Arrival::opens || gate.word.load(std::memory_order_acquire) != seen) return;
  if (wait == Wait::asleep) {
    sleep(waiting, arrival);
    return leave_cpu(gate.opened_on.load(std::memory_order_relaxed));
  }
  // A yield lets the others arrive without a wake-up each. Where another program has the core, it gives that the whole
  // of its time slice, while a sleeper is woken in front of it.
  const bool yields = asleep_next_ == 0;
  const wait::BackOff stages{.spin = crowded_ ? 0 : wait::kMeeting.spin, .yield = yields ? wait::kMeeting.yield : 0};
  const auto over = [&] { return gate.word.load(std::memory_order_acquire) != seen; };
  switch (wait::stay_awake(stages, base::now_ns(), over)) {
    case wait::Stage::spin: return;
    case wait::Stage::yield: asleep_after_ /= 2; return;
    case wait::Stage::sleep: break;
  }
  if (yields) asleep_after_ = std::clamp(2 * asleep_after_, 1, kMostAsleep);
  asleep_next_ = yields ? asleep_after_ : asleep_next_ - 1;
  sleep(waiting, arrival);
}

// A sleep with a time limit costs a timer, and one or two that look around are enough: they wake the others when it is
// time to report the wait.
void Rendezvous::sleep(const Waiting& waiting, Arrival arrival) {
  Gate& gate = this->gate(waiting.turn);
  const std::uint32_t seen = word_before(waiting.turn);
  complain_at_ = base::kFirstComplaint;
  const std::int64_t start = base::now_ns();
  gate.sleepers.fetch_add(1);
  std::int64_t looked = start;
  while (gate.word.load() == seen) {
    const bool watches = arrival == Arrival::watches;
    wait::sleep_on(gate.word, seen, watches ? kLookAround : wait::kForever);
    const std::int64_t now = base::now_ns();
    if (gate.word.load() != seen) break;
    const bool someone_missing = complain(waiting, now - start);
    if (!watches || now - looked < kLookAround) continue;
    if (someone_missing) wait::wake_all(gate.word);
    look_for_the_dead();
    looked = now;
  }
  gate.sleepers.fetch_sub(1);
}

// True if the wait is long, and processes are missing: then the others are woken to report it, too.
bool Rendezvous::complain(const Waiting& waiting, std::int64_t waited) {
  if (waited < base::kFirstComplaint) return false;
  std::vector<int> missing;
  for (const Member& member : members_) {
    if (member.turn.load(std::memory_order_relaxed) <= waiting.entered) missing.push_back(member.world);
  }
  if (missing.empty()) return false;
  if (!waiting.reports || waited < complain_at_) return true;
  base::warn(fmt::format(
      "rank {} has been waiting in {}() for {} for {} s: all processes of the node must make the same "
      "collective calls in the same order",
      mine().world, name_of(waiting.call.kind), base::list_of_ranks(missing), complain_at_ / 1'000'000'000));
  complain_at_ = base::next_complaint(complain_at_);
  return true;
}

// If all CPUs are busy, since the opener's OpenMP workers still spin, the kernel may wake this process on the
// opener's CPU, ahead of it, and its next call may poll for the opener. Otherwise it only delays spinning workers.
void Rendezvous::leave_cpu(int cpu) {
  if (sched_getcpu() != cpu) return;
  const CpuSet mask = node::affinity_mask();
  const CpuSet others = mask - CpuSet{cpu};
  if (!others.empty() && node::bind_this_thread(others)) node::bind_this_thread(mask);
}

// The wait is only for processes that have not arrived, not for those that ended after their arrival.
void Rendezvous::look_for_the_dead() const {
  const Member& mine = this->mine();
  const std::uint64_t here = turn();
  for (const Member& member : members_) {
    if (member.turn.load(std::memory_order_relaxed) >= here || node::is_alive(member.life, mine.life.pid_namespace))
      continue;
    lost_(fmt::format(
        "rank {} (pid {}) has ended, and {} of its node waited for it in a phase: the program cannot go on; "
        "see that rank's own output for the cause",
        member.world, member.life.pid, mine.world));
  }
}

}  // namespace steelyard::phases

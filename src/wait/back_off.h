// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "wait/sleep.h"

// The one back-off of the project: how a thread passes the time until an event of which it does not know when it comes.
// It first keeps its core (spin), then lets other threads go first (yield), then leaves the core (sleep). The calls are
// in sleep.h; how long each stage takes is in the table below, one row for each kind of event.
namespace steelyard::wait {

enum class Stage {
  spin,   ///< relax(): no system call; the core is not free for others
  yield,  ///< sched_yield(): threads that are ready go first; the wait goes on at once where there are none
  sleep   ///< sleep_for() or sleep_on(): the core is free
};

/// How long each stage of a wait takes. All times in ns. Pure: the caller reads the clock.
struct BackOff {
  std::int64_t spin = 0;      ///< length of the first stage
  std::int64_t yield = 0;     ///< length of the second stage
  std::int64_t shortest = 0;  ///< of the sleeps: the first one
  std::int64_t longest = 0;   ///< of the sleeps: the bound of each, and so of the delay if a wake-up is lost
  /// A sleep takes 1/part of the time waited so far, within these bounds. So an event without a wake-up is noticed late
  /// by at most this part of the wait.
  std::int64_t part = 1;

  /// The stage of a wait that has lasted `waited`.
  constexpr Stage stage(std::int64_t waited) const {
    if (waited < spin) return Stage::spin;
    return waited < spin + yield ? Stage::yield : Stage::sleep;
  }
  /// Length of the next sleep after `slept`: the time since the last stage began, or since the wait began, as the
  /// caller counts.
  constexpr std::int64_t sleep(std::int64_t slept) const { return std::clamp(slept / part, shortest, longest); }
};

// The rows, one for each kind of event. src/wait/back_off_benchmark measures what a turn of each stage costs: about
// 25 ns for relax(), 0.5 us for yield(), 20 us for the shortest sleep and 25 us from a wake-up until the other thread
// runs (2 cores of a virtual machine). What a row is worth is measured by the command that it names.

/// A message or another event in the MPI library, found by a test: nothing wakes this thread. The option `spin` takes
/// the place of the first stage: by then, one sleep would have been as long. The first sleep is as short as a sleep can
/// be; the longest bounds the delay of the message. `make bench-waits`
inline constexpr BackOff kMessage{.spin = 20'000, .shortest = 5'000, .longest = 50'000};

/// The arrival of another process, which wakes this one. Between two sleeps, the MPI library advances its messages: one
/// that another rank needs is late by at most half of the wait so far, and by 2 ms. More sleeps would take
/// the core from threads that compute. `make bench-waits`
inline constexpr BackOff kArrival{.spin = 20'000, .shortest = 50'000, .longest = 2'000'000, .part = 2};

/// A meeting of the processes of a node, of which the last wakes the others. Processes that run meet within 4 us; where
/// they have to be scheduled first, within some wake-ups, 100 us in all. The bound of a sleep is the time between two
/// looks for processes that have ended. `make bench-phases`
inline constexpr BackOff kMeeting{.spin = 4'000, .yield = 96'000, .shortest = 300'000'000, .longest = 300'000'000};

/// A task, or the end of all tasks, found by polling. A result or a task that is under way is expected within the first
/// stage; later ones are noticed late by an eighth of the wait so far, and by 0.5 ms. `make bench-tasks`
inline constexpr BackOff kTask{.spin = 20'000, .shortest = 5'000, .longest = 500'000, .part = 8};

/// The set-up of a context, for which the program's own MPI is asked again and again. It is rare and may wait for a
/// rank that computes: a delay of an eighth of the wait, at most 1 ms, is not noticed there.
inline constexpr BackOff kSetUp{.yield = 100'000, .shortest = 20'000, .longest = 1'000'000, .part = 8};

/// ns from a wake-up until the thread or the process that was woken is surely at work, and others that it wakes are:
/// twice as long as processes that have to be scheduled need to meet.
inline constexpr std::int64_t kAtWork = 2 * (kMeeting.spin + kMeeting.yield);

/// Waits in the stages that keep the thread awake, until `over()` or until it is time to sleep.
/// @param since when the wait began, as base::now_ns()
/// @return the stage in which `over()` became true; Stage::sleep if it did not
template <class Over>
Stage stay_awake(const BackOff& back_off, std::int64_t since, const Over& over) {
  for (;;) {
    const Stage stage = back_off.stage(base::now_ns() - since);
    if (stage == Stage::sleep || over()) return stage;
    stage == Stage::spin ? relax() : yield();
  }
}

/// Turns of relax() that take about 5 us (back_off_benchmark): as long as processes that run need to meet.
inline constexpr int kSpins = 200;

/// One turn of a wait between threads of a team, which is mostly over after some hundred ns, but long where threads
/// share a core. Counted, as a read of the clock takes as long as the wait.
/// @param round number of the turn, from 0
inline void pass(int round) { round < kSpins ? relax() : yield(); }

}  // namespace steelyard::wait

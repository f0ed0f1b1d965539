// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wait/back_off.h"

// The planning half of `tasks`: pure functions that the live pool and the model in sim/ share. No clock, no MPI.
namespace steelyard::tasks {

/// How many of `available` tasks a thief gets. `fraction` in (0, 1]: that part; 0: adaptive, so that the victim and
/// all thieves that ask now end up with equally many. At least one where there is one.
std::size_t amount_to_give(std::size_t available, std::size_t askers, double fraction);

/// How long a thief waits for an answer before it asks one more victim: at first as long as a message may be late, in
/// the end twice as long as an idle victim sleeps. Victims answer between tasks, so it grows, but so little that all
/// neighbours are asked soon.
inline constexpr std::int64_t kFirstPatience = wait::kMessage.longest, kLastPatience = 2 * wait::kTask.longest;  // ns
inline std::int64_t next_patience(std::int64_t now) { return now < kLastPatience / 2 ? 2 * now : kLastPatience; }

/// Short tasks that a worker executes without a read of the clock, which takes as long as one of them (bench/tasks.py,
/// case cost).
inline constexpr std::int64_t kTogether = 8;

/// How long a process executes short tasks before it looks for messages and makes tasks public again, in ns: as long
/// as an idle process spins.
inline constexpr std::int64_t kPollEvery = wait::kTask.spin;

/// How many tasks an owner keeps out of thieves' reach: about as many as it executes until it makes tasks public
/// again, so that it seldom pays for taking one back. None where a task is longer than that, and never more than half:
/// thieves find the rest while it works.
std::size_t amount_to_keep(std::size_t available, std::int64_t ns_per_task);

/// A node asks for more while each of its workers still has this many tasks to do: an answer takes its time, since
/// victims give between tasks and inputs have to travel.
std::size_t amount_ahead(std::int64_t ns_per_task);

/// Bytes of tasks in one message, more or less: the thief can begin with the first message before the others arrive.
inline constexpr std::size_t kMessageBytes = std::size_t{1} << 20;
/// Bytes of all messages that one request brings, at most: the victim sends while it could work.
inline constexpr std::size_t kMostGiven = std::size_t{8} << 20;

/// In which order a thief asks: the last giver, then the others in an order of its own, so that thieves do not all
/// ask the same.
class Victims {
 public:
  Victims(std::size_t count, std::uint64_t seed);
  std::size_t next();
  void gave(std::size_t victim) { favourite_ = victim; }
  /// The favourite first again.
  void restart() { asked_ = 0; }
  std::size_t size() const { return order_.size(); }

 private:
  std::vector<std::uint32_t> order_;
  std::size_t favourite_;
  std::size_t asked_ = 0, place_ = 0;
};

/// Detects the end of a run by the four-counter method (Mattern 1987): if the tasks finished by the end of one round
/// equal the tasks spawned as counted in the whole of the next round, no task was left between the two. The counts
/// never shrink.
class TerminationRounds {
 public:
  struct Counts {
    std::uint64_t spawned = 0, finished = 0;
    std::uint64_t leaving = 0;  ///< processes that want to free the pool
    /// One of them, for messages: 2 * (its rank in MPI_COMM_WORLD + 1), and 1 more if it calls MPI_Finalize. 0: there
    /// is none.
    std::uint64_t leaver = 0;
    Counts& operator+=(const Counts& other);
  };
  enum class Outcome : std::uint32_t { again, over, torn };  ///< torn: some are in a run, others free the pool
  Outcome judge(const Counts& round, std::uint64_t processes);

 private:
  std::uint64_t finished_ = ~std::uint64_t{0};
};

std::uint64_t hash(std::uint64_t value);

}  // namespace steelyard::tasks

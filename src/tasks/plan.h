// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wait/back_off.h"

// The planning half of `tasks`: pure functions that the live pool and the model in sim/ share. No clock, no MPI.
namespace steelyard::tasks {

/// How many of `available` tasks a thief gets; at least one if there are any.
/// @param fraction in (0, 1]: that part; 0: adaptive, so that the victim and all `askers` end up with equally many
std::size_t amount_to_give(std::size_t available, std::size_t askers, double fraction);

/// How long a thief waits for an answer before it asks one more victim: at first as long as a message may be late, at
/// last twice as long as an idle victim sleeps. It grows because victims answer between tasks; slowly, so that all
/// neighbours are asked soon.
inline constexpr std::int64_t kFirstPatience = wait::kMessage.longest, kLastPatience = 2 * wait::kTask.longest;  // ns
inline std::int64_t next_patience(std::int64_t now) { return now < kLastPatience / 2 ? 2 * now : kLastPatience; }

/// The number of short tasks that a worker executes between two reads of the clock. A read takes as long as a short
/// task (bench/tasks.py, case cost).
inline constexpr std::int64_t kTogether = 8;

/// How long a process executes short tasks before it looks for messages and makes tasks public again, in ns: as long
/// as an idle process spins.
inline constexpr std::int64_t kPollEvery = wait::kTask.spin;

/// How many tasks an owner keeps private: about as many as it executes until it makes tasks public again, so that it
/// rarely has to take one back. None if a task takes longer than that; never more than half, so that thieves find the
/// rest while the owner works.
std::size_t amount_to_keep(std::size_t available, std::int64_t ns_per_task);

/// A node asks for more while each of its workers still has this many tasks to do: an answer takes its time, since
/// victims give between tasks and inputs have to travel.
std::size_t amount_ahead(std::int64_t ns_per_task);

/// Bytes of tasks in one message, more or less: the thief can begin with the first message before the others arrive.
inline constexpr std::size_t kMessageBytes = std::size_t{1} << 20;
/// Bytes of all messages that one request brings, at most: the victim sends while it could work.
inline constexpr std::size_t kMostGiven = std::size_t{8} << 20;

/// The order in which a thief asks: the last giver, then the others in an order that depends on `seed`, so that thieves
/// do not all ask the same victim.
class Victims {
 public:
  Victims(std::size_t count, std::uint64_t seed);
  /// The victim to ask next, an index below size().
  std::size_t next();
  void gave(std::size_t victim) { last_giver_ = victim; }
  /// From here on, the last giver is asked first again.
  void restart() { asked_ = 0; }
  std::size_t size() const { return order_.size(); }

 private:
  std::vector<std::uint32_t> order_;
  std::size_t last_giver_;
  std::size_t asked_ = 0, place_ = 0;
};

/// Judges the counts of termination rounds by the four-counter method (Mattern 1987): if the tasks finished by the end
/// of one round equal the tasks spawned as counted in the whole next round, no task was left between the two. Counts
/// never decrease.
class TerminationRounds {
 public:
  struct Counts {
    std::uint64_t spawned = 0, finished = 0;
    std::uint64_t leaving = 0;  ///< processes that want to free the pool
    /// One of these processes, to name it in error messages: 2 * (its rank in MPI_COMM_WORLD + 1), and 1 more if it
    /// calls MPI_Finalize. 0: none.
    std::uint64_t leaver = 0;
    Counts& operator+=(const Counts& other);
  };
  enum class Outcome : std::uint32_t { again, over, failed };  ///< failed: some are in a run, others free the pool
  /// The outcome of a round in which `processes` took part.
  Outcome judge(const Counts& round, std::uint64_t processes);

 private:
  std::uint64_t finished_ = ~std::uint64_t{0};
};

/// Mixes all bits of a value.
std::uint64_t hash(std::uint64_t value);

}  // namespace steelyard::tasks

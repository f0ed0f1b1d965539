// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "loops/plan.h"

// What is known of one loop, from its executions: pure data and arithmetic.
namespace steelyard::loops {

/// One thread in one execution.
struct ThreadSample {
  std::int64_t busy_ns = 0;  ///< from its begin until it found no more iterations
  std::int64_t idle_ns = 0;  ///< from then until the last thread found no more iterations
  std::int64_t own_ns = 0;   ///< of busy: until nothing was left of its own part
  std::uint64_t own_iterations = 0;
  std::uint64_t stolen = 0;  ///< iterations of another thread's part, or of the pool
  std::uint64_t chunks = 0;
};

struct Execution {
  std::uint64_t count = 0;
  Strategy strategy = Strategy::even;
  double static_fraction = 1;
  std::int64_t elapsed_ns = 0;  ///< from the first thread's begin until the last thread found no more iterations
  std::vector<ThreadSample> threads;
  std::int64_t learning_ns = 0;  ///< for learning from the previous execution, while all threads wait; 0 at the first

  double stolen_share() const;  ///< of all iterations
  double idle_share() const;    ///< of the time of all threads
};

/// The iterations that each thread executed, in order: what a replay repeats. Adjacent chunks are merged.
struct Assignment {
  struct Piece {
    std::uint64_t begin = 0, end = 0;
    bool operator==(const Piece&) const = default;
  };
  std::uint64_t count = 0;
  std::vector<std::vector<Piece>> threads;
  /// True if it contains each iteration exactly once.
  bool complete() const;
  bool operator==(const Assignment&) const = default;
};

/// The executions of a loop at one thread count and one order of magnitude of iterations.
class History {
 public:
  /// Size: executions that are kept.
  static constexpr int kRing = 16;
  /// The most expensive part may cost this share more than the mean before boundaries move: twice what a gain has to
  /// be, because moving data to another cache costs, too.
  static constexpr double kDeadBand = 2 * decide::Settings{}.exploration;

  explicit History(int threads = 1) : threads_(threads) {}
  /// Learns from an execution that was divided by `plan`. Allocates in its first kRing calls only.
  /// The first execution of a process meets cold memory: its costs are used only until another execution is measured.
  void add(const Plan& plan, const Execution& execution);
  /// Forgets costs, profile and boundaries. The executions in the ring stay.
  void reset();
  /// Moves the boundaries between the threads' own parts, if the costs of the parts differ by more than the dead band.
  /// @return true if boundaries have changed
  bool rebalance();
  void set_boundaries(std::vector<double> boundaries) { measured_.boundaries = std::move(boundaries); }

  const Measured& measured() const { return measured_; }
  Measured& measured() { return measured_; }
  int threads() const { return threads_; }
  long executions() const { return executions_; }
  long executions_here() const { return executions_ - earlier_; }  ///< without those of earlier runs
  double mean_ns() const { return mean_ns_; }                      ///< recent length of an execution
  double mean_ns_here() const;  ///< the same in this run alone; 0 where none was measured
  /// The i-th last execution, from 0; i < kept().
  const Execution& last(int i) const;
  int kept() const;

  /// ns that an execution would take with even parts and without stealing, from all measurements; 0 without one.
  double forecast_even(std::uint64_t count) const;
  /// The same from the last execution alone: earlier disturbances have no effect on it.
  double latest_even(std::uint64_t count) const;
  /// The same if all threads were equally busy, each with its own iterations.
  double forecast_level(std::uint64_t count) const;

  /// Continues from what an earlier run has stored in a file.
  void restore(Measured measured, long executions, double mean_ns, double profile_count);
  double profile_count() const { return profile_count_; }  ///< iterations that the profile's costs are for

 private:
  void learn_costs(const Plan& plan, const Execution& execution);
  void forget_costs();
  void learn_spread(const Plan& plan, const Execution& execution);
  void learn_profile(const Plan& plan, const Execution& execution);
  double own_cost(const ThreadSample& sample) const;  ///< ns for each iteration
  double scale(std::uint64_t count) const;

  int threads_;
  long executions_ = 0, earlier_ = 0;
  double mean_ns_ = 0;
  double profile_count_ = 0;
  double latest_even_ns_ = 0;  ///< for each iteration; 0 if the last execution does not show costs by place
  bool cold_ = false;          ///< the only measured costs are from a cold execution
  Measured measured_;
  std::array<Execution, kRing> ring_;
  int kept_ = 0;
  int newest_ = -1;
};

}  // namespace steelyard::loops

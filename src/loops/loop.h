// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "loops/history.h"
#include "loops/plan.h"
#include "loops/policy.h"

namespace steelyard::loops {

/// Loops over the same data. Each thread has the same part of all of them, so a loop finds the data in its thread's
/// cache.
class Tie;

/// A loop of the program: its measurements, and how its next execution is divided. Any thread may call it.
/// Executions of one loop may overlap (nowait), also in several teams.
class Loop {
 public:
  /// `key` is the same in each run of the program: "app+0x1a2b", "solver.cpp:42", or a name that the program gave.
  explicit Loop(std::string key, Settings settings = {});
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  const std::string& key() const { return key_; }
  Settings settings() const;
  /// From the next execution on. Failure: a fraction outside of 0..1.
  base::Status set(const Settings& settings);
  /// From now on, each thread has the same part of this loop and of `other`. Both must live as long as they are
  /// executed.
  void tie(Loop& other);
  /// What this process waited in the collective that followed the last execution: the slack of the next one.
  void set_slack(std::int64_t ns);
  /// Keeps one assignment for each number of iterations and threads, to be saved: that of the last measured execution,
  /// or of the first execution if none was measured.
  void record_assignments(bool on);
  /// Each execution with this count and these threads repeats it. Failure if it is not complete.
  base::Status replay(Assignment assignment);

  /// What the engine keeps of the next execution.
  struct Ticket {
    bool measure = false;
    bool record = false;
    const Assignment* replayed = nullptr;
    std::uint64_t version = 0;  ///< of the plan; 0: none yet
    void* regime = nullptr;
  };
  /// The plan of the next execution. `plan` and `ticket` are those of the last call that used the same memory. If
  /// nothing has changed since, they stay as they are.
  void prepare(const Shape& shape, Plan& plan, Ticket& ticket);
  /// A measured execution has ended.
  void completed(const Plan& plan, const Ticket& ticket, const Execution& execution);
  /// The assignment of an execution whose ticket says that it is recorded.
  void recorded(Assignment assignment);

  /// The program's own calls have begun an execution by a team of two threads or more. For the record.
  void called(std::uint64_t iterations);
  struct Calls {
    std::uint64_t executions = 0, iterations = 0;
  };
  Calls calls() const;

  /// Executions by teams, and how many of them repeated an assignment of a file.
  struct Repeats {
    std::uint64_t executions = 0, repeated = 0;
  };
  Repeats repeats() const;

  // For the file, reports and tests.
  struct Regime {
    int threads = 1;
    int magnitude = 0;  ///< bits of the iteration count
    History history;
    Policy policy = Policy(decide::Settings());  ///< of a Loop: with its settings
    Plan plan;
    std::uint64_t version = 0;
    long until_measured = 0;
    std::uint64_t tie_version = 0;
  };
  /// A copy of what is known about executions of this shape: the thread count, and about as many iterations. False if
  /// there was no such execution.
  bool find(const Shape& shape, Regime& copy) const;
  /// The same for the shape of the last execution.
  bool latest(Regime& copy) const;
  std::vector<Regime> regimes() const;
  /// What an earlier run knew, unless this run already has its own measurements. The earlier run's choice is kept until
  /// this run has chosen.
  void restore(Regime regime);
  void remember(const Assignment& assignment);
  std::vector<Assignment> assignments() const;

 private:
  Regime& regime_of(const Shape& shape);
  void replan(Regime& regime, const Shape& shape);

  const std::string key_;
  mutable std::mutex mutex_;
  Settings settings_;
  std::deque<Regime> regimes_;
  Regime* latest_ = nullptr;
  Plan next_;                   ///< memory for the plan to come
  std::uint64_t versions_ = 0;  ///< never twice the same, whatever the regime
  std::shared_ptr<Tie> tie_;
  std::int64_t slack_ns_ = 0;
  using Size = std::pair<std::uint64_t, int>;  ///< iterations and threads
  static Size size_of(const Assignment& assignment);
  bool wants_record(const Shape& shape) const;
  struct Recorded {
    Assignment assignment;
    bool now = true;  ///< in this run, not read from a file
  };
  bool record_ = false, said_missing_ = false;
  std::deque<Assignment> replayed_;
  std::map<Size, const Assignment*> replayed_by_size_;
  Repeats repeats_;
  std::map<Size, Recorded> recorded_;
  std::atomic<std::uint64_t> executions_ = 0, iterations_ = 0;  ///< by the program's own calls: see called()
};

}  // namespace steelyard::loops

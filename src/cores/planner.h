// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cores/length.h"
#include "cores/policy.h"
#include "node/processes.h"
#include "observe/record.h"
#include "observe/ticks.h"

namespace steelyard::cores {

/// The leader's side of `cores`: cuts the ticks of all processes into windows, asks the rule, keeps the decisions.
class Planner {
 public:
  Planner(const PolicyOptions& options, const node::Process* processes, int count);

  /// The plan to apply now; nullptr for none. Valid until the next call.
  const Plan* consider(const observe::TickBoard& ticks, observe::TickSource source, int ticks_per_step,
                       std::int64_t start, const std::function<NodeShape()>& shape);
  /// The cores of the start are restored, since the thread count of `rank` has become fixed: forgets what was learnt.
  /// `time`: s since the run began.
  void start_again(double time, int rank);
  /// After a request from outside. If it has changed the cores of the job, forgets what was learnt.
  void requested(observe::DecisionRecord decision);
  const std::vector<observe::DecisionRecord>& decisions() const { return decisions_; }
  void report(observe::NodeRecord& node, std::vector<observe::DecisionRecord>& decisions, const NodeShape& shape) const;

 private:
  bool read(const observe::TickBoard& ticks, observe::TickSource source, std::int64_t from, std::int64_t to,
            std::int64_t start, const NodeShape& shape, Window& window) const;
  bool took_long(const observe::TickBoard& ticks, std::int64_t newest) const;
  std::vector<observe::DecisionRecord>::iterator present() {
    return decisions_.begin() + static_cast<std::ptrdiff_t>(since_);
  }
  void undo_open_moves();
  /// The cores are those of the start, or of a request: what the rule has learnt and the windows after moves are void.
  void forget();
  void note(const Verdict& verdict, const Window& window);

  PolicyOptions options_;
  std::unique_ptr<Rule> rule_;
  const node::Process* processes_;
  int count_;
  observe::TickSource source_ = observe::TickSource::region;
  int ticks_per_step_ = 0;
  std::int64_t from_ = -1;  // tick at which the next window begins
  long steps_ = 0;
  bool moved_ = false;
  bool settling_ = false;  // after a request: processes may still have the cores of before
  std::size_t since_ = 0;  // decisions_ from here on are about the present cores of the job
  Length before_, after_;
  Verdict verdict_;
  std::vector<observe::DecisionRecord> decisions_;
};

}  // namespace steelyard::cores

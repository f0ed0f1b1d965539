// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "phases/machine.h"

namespace steelyard::phases {

/// How a phase may run: at most `max_per_resource` processes for each resource of that type, each with `threads`
/// threads.
struct Configuration {
  Resource resource = Resource::machine;
  int max_per_resource = 1;
  int processes = 1;  ///< of this node that work
  int threads = 1;    ///< of the process that has the most threads
  bool operator==(const Configuration&) const = default;
};

/// Finds the configuration at which a phase that is run again and again is fastest, by measurement, and stays with it.
/// Pure: fed the same durations, it makes the same choices in every process. The configurations take turns, so that a
/// slow drift of the machine hits all alike. A configuration whose first run takes half as long again as the best is
/// dropped at once, a closer one when its fastest run is more than 10 % behind, and those that are left get kRuns runs
/// each; the smallest median wins.
class Choice {
 public:
  static constexpr int kRuns = 3;

  explicit Choice(std::vector<Configuration> configurations);
  /// The configuration of the next run.
  const Configuration& next() const { return configurations_[current_]; }
  std::size_t index() const { return current_; }
  bool settled() const { return settled_; }
  /// How long the run at next() took.
  void measured(std::int64_t ns);
  /// The median so far of a configuration; 0 where it was not run.
  std::int64_t typical(std::size_t configuration) const;
  int runs(std::size_t configuration) const { return static_cast<int>(times_[configuration].size()); }
  const std::vector<Configuration>& configurations() const { return configurations_; }

 private:
  void drop_hopeless();
  void go_on();

  std::vector<Configuration> configurations_;
  std::vector<std::vector<std::int64_t>> times_;
  std::vector<bool> dropped_;
  std::size_t current_ = 0;
  bool warmed_ = false;
  bool settled_ = false;
};

}  // namespace steelyard::phases

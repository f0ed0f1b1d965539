#pragma once
#include <cstdint>
#include <vector>

#include "phases/machine.h"

namespace steelyard::phases {

/// How a phase may run: at most `most` processes for each resource of that kind, each with `threads` threads.
struct Grade {
  Resource resource = Resource::machine;
  int most = 1;
  int processes = 1;  ///< that this comes to on this node
  int threads = 1;    ///< of the process that has the most
  bool operator==(const Grade&) const = default;
};

/// Finds the grade at which a phase that is run again and again is fastest, by measurement, and stays with it. Pure: fed
/// the same durations, it makes the same choices in every process. Grades take turns, so that a slow drift of the machine
/// hits all alike. A grade whose first run takes half as long again as the best is dropped at once, a closer one when its
/// fastest run is more than 10 % behind, and those that are left get kRuns runs each; the smallest median wins.
class Choice {
 public:
  static constexpr int kRuns = 3;

  explicit Choice(std::vector<Grade> grades);
  /// The grade of the next run.
  const Grade& next() const { return grades_[current_]; }
  std::size_t index() const { return current_; }
  bool settled() const { return settled_; }
  /// How long the run at next() took.
  void measured(std::int64_t ns);
  /// The median so far of a grade; 0 where it was not run.
  std::int64_t typical(std::size_t grade) const;
  int runs(std::size_t grade) const { return static_cast<int>(times_[grade].size()); }
  const std::vector<Grade>& grades() const { return grades_; }

 private:
  void drop_hopeless();
  void go_on();

  std::vector<Grade> grades_;
  std::vector<std::vector<std::int64_t>> times_;
  std::vector<bool> dropped_;
  std::size_t current_ = 0;
  bool warmed_ = false;
  bool settled_ = false;
};

}  // namespace steelyard::phases

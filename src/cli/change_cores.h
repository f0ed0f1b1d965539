// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cli/jobs.h"

namespace CLI {
class App;
}

namespace steelyard::cli {

/// `steelyard cores [JOB] [--set=LIST | --shrink=N | --grow=N] [--wait=SECONDS]`
struct CoresForm {
  // NOLINTBEGIN(readability-redundant-member-init): so that a form may leave them out
  std::string job = {};  ///< a batch job, or a process of the job or above it; empty: all jobs of this node, to show
  std::string set = {};  ///< a list of CPUs; empty: no such request
  // NOLINTEND(readability-redundant-member-init)
  int shrink = 0;    ///< cores; 0: no such request
  int grow = 0;      ///< cores; 0: no such request
  double wait = 10;  ///< s: until the request has taken effect
  bool changes() const { return !set.empty() || shrink > 0 || grow > 0; }
};

/// The CPUs that a job has after a request, or the reason why it cannot have them.
struct WantedCpus {
  node::CpuSet cpus;
  std::string refusal;
};
WantedCpus wanted_cpus(const observe::LiveView& job, const CoresForm& form);

/// The cores of each rank, as a table.
std::string cores_as_text(const observe::LiveView& job);

/// The words of `steelyard cores`. Must outlive their parsing.
class CoresWords {
 public:
  explicit CoresWords(CLI::App& command);
  CoresWords(const CoresWords&) = delete;
  CoresWords& operator=(const CoresWords&) = delete;
  /// Prints what the jobs have, or changes one. Returns the exit status: 0 done, 1 refused or no such job, 2 wrong
  /// usage, 3 not yet in effect.
  int carry_out() const;

 private:
  int carry_out(std::vector<RunningJob> jobs) const;
  CoresForm form_;
};

}  // namespace steelyard::cli

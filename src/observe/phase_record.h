// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

// Phases of coupled libraries (steelyard/phases.h) in the run record, and what is printed of them.
namespace steelyard::observe {

struct RunRecord;

/// How a phase may run: at most `max_per_resource` processes for each resource of a type.
struct PhaseConfiguration {
  std::string resource;  ///< "NUMA domain"
  int max_per_resource = 1;
  int processes = 1;   ///< of the node that work
  int threads = 1;     ///< of the process that has the most
  double seconds = 0;  ///< typical time of a run; 0: none was measured
  /// Part of that time which the best configuration saves, and its confidence interval. It is infinite if the two were
  /// not compared; all three are left out of the file then.
  double gain = 0;
  double gain_low = -std::numeric_limits<double>::infinity();
  double gain_high = std::numeric_limits<double>::infinity();
};

struct PhaseRecord {
  int number = 0;  ///< of its rank's phases, in the order of creation
  int rank = 0;    ///< the first process of its context
  int node = 0;
  int processes = 0;       ///< of the node that share its context
  int created = 1;         ///< how often it was created alike, one after the other
  bool autotuned = false;  ///< it compares its configurations
  std::int64_t runs = 0;
  double seconds = 0;  ///< in all runs, from the last entry to the last exit
  int best = 0;        ///< the fastest configuration so far
  std::vector<PhaseConfiguration> configurations;
};

/// One line a phase for the summary, the longest first, at most `most`. The last line counts the others.
std::vector<std::string> phase_lines(const RunRecord& record, std::size_t most);
/// Tables for the full report: all configurations of all phases.
std::string phase_table(const RunRecord& record);

}  // namespace steelyard::observe

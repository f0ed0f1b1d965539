// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/doctor.h"
#include "cli/launcher.h"
#include "node/cpu_set.h"
#include "node/topology.h"

namespace steelyard::cli {

/// What the doctor of one rank found.
struct RankReport {
  int rank = -1;
  int threads = 1;  ///< that the rank will have at least
  node::CpuSet mask;
  std::vector<Finding> findings;
};

/// As text for another rank, and back; nothing if the text is no report.
std::string to_text(const RankReport& report);
std::optional<RankReport> report_from(const std::string& text);

/// The findings of all ranks, each once. Those that only some ranks have name the ranks.
std::vector<Finding> merged(const std::vector<RankReport>& reports);

/// What no rank sees alone: more threads than CPUs or cores, or a cgroup's quota (0: none) below the CPUs of all ranks.
/// `cpus` are those of this node.
std::vector<Finding> examine_node(const std::vector<RankReport>& reports, const node::Topology& cpus, double quota,
                                  Launcher::Kind launcher);

}  // namespace steelyard::cli

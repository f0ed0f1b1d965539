// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "base/environment.h"
#include "cli/launcher.h"

namespace steelyard::cli {

/// A name that the ranks of this job on this node have in common, and no other job has; "" if there is none.
std::string name_on_node(const base::Environment& environment, const Launcher& launcher);

/// Gathers a text of each rank of a node at the first of these ranks, without MPI: over a socket in the kernel's
/// abstract namespace, of which nothing is left when its processes have ended.
class Gathering {
 public:
  /// The first rank of the node listens from now on. `name`: of name_on_node(); if it is empty, or if `ranks` is less
  /// than two, each rank keeps its text.
  Gathering(const std::string& name, int rank_on_node, int ranks);
  ~Gathering();
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  /// True at the first rank of the node, if the others can send their texts.
  bool gathers() const { return first_ && !name_.empty(); }
  /// At the first rank of the node: `own` and the texts that the others have sent, once all have or `patience` is over.
  /// At the others: nothing, once the first rank has called finish(); or `own` if the first rank is not found within
  /// `patience` or ends before. A process of another user is not heard.
  std::vector<std::string> gather(const std::string& own, std::chrono::milliseconds patience);
  /// At the first rank of the node: lets the others go on.
  void finish();

 private:
  void receive(std::vector<std::string>& texts, std::chrono::steady_clock::time_point end);
  bool hand_over(const std::string& own, std::chrono::steady_clock::time_point end) const;

  std::string name_;
  bool first_ = false;
  int ranks_ = 0;
  int listener_ = -1;
  std::vector<int> others_;
};

}  // namespace steelyard::cli

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <unistd.h>

namespace steelyard::node {

/// Elects one of the processes that the same launcher has started on this node, to speak for them before they know each
/// other. Behind a wrapper that starts each rank, each process is elected.
class Election {
 public:
  /// @param launcher the process that is the parent of all of them
  explicit Election(pid_t launcher = getppid()) : launcher_(launcher) {}
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  /// True in one process until its Election is destroyed; then the next process that asks is elected. True in any
  /// process if that cannot be found out. Does not block.
  bool elected();

 private:
  pid_t launcher_;
  int socket_ = -1;  ///< bound to the name of the launcher
};

}  // namespace steelyard::node

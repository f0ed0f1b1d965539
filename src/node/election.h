// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <string_view>

namespace steelyard::node {

/// Elects one of the processes that the same launcher has started on this node, to speak for them before they know each
/// other. Behind a wrapper that starts each rank, each process is elected.
class Election {
 public:
  /// @param subject what the elected process says: for each, there is an election of its own
  /// @param launcher the process that is the parent of all of them
  explicit Election(std::string_view subject, pid_t launcher = getppid())
      : subject_(std::hash<std::string_view>()(subject)), launcher_(launcher) {}
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  /// True in one process until its Election is destroyed; then the next process that asks is elected. True in any
  /// process if that cannot be found out. Does not block.
  bool elected();

 private:
  std::size_t subject_;  ///< its hash
  pid_t launcher_;
  int socket_ = -1;  ///< bound to the name of the election
};

}  // namespace steelyard::node

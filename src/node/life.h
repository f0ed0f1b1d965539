// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace steelyard::node {

/// A process, such that another process can see whether it lives. In shared memory: no pointers.
struct Life {
  std::int32_t pid;
  std::uint64_t started;        ///< in clock ticks since the start of the system; 0: unknown
  std::uint64_t pid_namespace;  ///< processes of other PID namespaces are not visible
};

/// This process.
Life own_life();
/// False if the process has ended, also if its parent has not yet waited for it. True if that cannot be told from the
/// PID namespace of this process.
bool is_alive(const Life& life, std::uint64_t my_pid_namespace);

}  // namespace steelyard::node

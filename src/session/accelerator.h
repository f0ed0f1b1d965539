// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "observe/sites.h"

namespace steelyard::session {

/// Brackets a call in which the calling thread waits for an accelerator. `site` is the return address in the program.
/// Outside regions, the primary thread's wait is measured and, if waits at this site are long, the process's cores are
/// lent until it ends. In a measured region, each thread's wait is measured. Other threads' calls, and those within an
/// MPI call, change nothing.
class AcceleratorWait {
 public:
  explicit AcceleratorWait(std::uint64_t site);
  ~AcceleratorWait();
  AcceleratorWait(const AcceleratorWait&) = delete;
  AcceleratorWait& operator=(const AcceleratorWait&) = delete;

 private:
  void lend();
  void come_back(std::int64_t now);

  enum class Measured { nothing, thread, process };
  Measured measured_ = Measured::nothing;
  observe::Site* history_ = nullptr;
  std::int64_t begin_ = 0;
  std::int64_t cpu_begin_ = -1;  // CPU time of this thread, ns; -1: not read
  int lent_ = 0;                 // cores
};

}  // namespace steelyard::session

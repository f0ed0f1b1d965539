// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace steelyard::intercept {

class Call;

/// Between two looks at what a broadcast waits for. Leaves the core to others, as its call is told to. The MPI library
/// is let go on with what is under way: others may wait for that.
class Turns {
 public:
  /// `call` is null where it is not weighed.
  explicit Turns(Call* call) : call_(call) {}
  void next();

 private:
  /// True where it has slept.
  bool pause();

  Call* call_;
  int turns_ = 0;
  std::int64_t begin_ = 0;  ///< ns, of the first turn of a call that is not weighed
};

}  // namespace steelyard::intercept

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "base/clock.h"
#include "port/progress.h"

namespace steelyard::collectives {

/// The call of the program in which a collective is delivered, at this rank. As it stands here, the call is not
/// measured and counts nowhere; src/intercept has the others. From the thread that called.
class Call {
 public:
  explicit Call(port::Progress& library) : library_(library) {}
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// When it began, ns.
  virtual std::int64_t began() const { return base::now_ns(); }
  /// When it ends, ns: from the first time that this is asked on, whatever is still done in it.
  virtual std::int64_t ended() { return base::now_ns(); }
  /// This rank is at the collective. May block, with this rank's cores lent, while `root` is on this node and has not
  /// arrived.
  /// @param waits this rank needs the data of `root`, a rank of the communicator
  virtual void arrive(int root, bool waits) {
    static_cast<void>(root);
    static_cast<void>(waits);
  }

  /// Between two tests of what this rank waits for. Leaves the core to others as the call is told to. Lets the MPI
  /// library advance what is under way, as other ranks may wait for that.
  void turn();

 protected:
  /// One turn without the library.
  /// @return true if the thread has slept
  virtual bool pause();

 private:
  port::Progress& library_;
  int turns_ = 0;
  std::int64_t begin_ = 0;  ///< ns, of the first turn of a call that is not measured
};

}  // namespace steelyard::collectives

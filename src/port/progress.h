// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::port {

/// Lets the MPI library advance what it has under way, for a rank that waits outside of the library: other ranks may
/// wait for that. Does not block; costs about as much as a test for a message.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void progress() = 0;
};

}  // namespace steelyard::port

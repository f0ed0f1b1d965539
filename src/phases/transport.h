// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "port/agreement.h"

namespace steelyard::phases {

/// What the creation of a context needs from MPI, among the processes of one node: the program's own MPI, so that
/// nothing here depends on which MPI it is.
class Transport : public port::Agreement {
 public:
  virtual int rank() const = 0;  ///< among the processes of this node
  virtual int size() const = 0;
  virtual int rank_in_communicator() const = 0;
  /// In MPI_COMM_WORLD, for messages.
  virtual int rank_in_world() const { return rank_in_communicator(); }
};

}  // namespace steelyard::phases

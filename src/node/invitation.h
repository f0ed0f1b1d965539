// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::node {

/// What the process that makes a file in shared memory tells those that are to have it, too. Sent as it is in memory.
struct Invitation {
  char name[64] = {};
  int error = 0;  ///< errno of what has failed; 0: the file is there
};

/// Makes the file, empty, under a name that no other has. -1, with the error noted, where that cannot be.
int invite(Invitation& invitation);
/// The same file, for one that was invited; -1, and errno, where that cannot be.
int accept(const Invitation& invitation);

}  // namespace steelyard::node

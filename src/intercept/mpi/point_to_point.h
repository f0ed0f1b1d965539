// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "intercept/mpi/library.h"
namespace steelyard::intercept {

/// True for a send that cannot wait long for its receiver: it goes straight to the library, as do wrong arguments.
bool goes_at_once(int count, MPI_Datatype type, int destination);

/// True where a send will not be refused, as far as is cheap to see. A receive that is begun together with it could
/// otherwise swallow a message before the refusal, which the library's own exchange never does.
bool can_send(int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm);

}  // namespace steelyard::intercept

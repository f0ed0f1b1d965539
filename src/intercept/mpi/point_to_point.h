#pragma once
#include <mpi.h>

namespace steelyard::intercept {

/// True for a send that cannot wait long for its receiver: it goes straight to the library, as do wrong arguments.
bool goes_at_once(int count, MPI_Datatype type, int destination);

}  // namespace steelyard::intercept

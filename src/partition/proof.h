#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "partition/image.h"

namespace steelyard::partition {

/// A call of omp_get_num_threads() or omp_get_thread_num() in compiled code.
struct Query {
  std::uint64_t return_address = 0;  ///< in the image's own addresses
  bool proved = false;
};

/// What is known of the queries of one function.
struct Proof {
  std::vector<Query> queries;
  std::string
      reason;  ///< why they are not proved: what an instruction does, e.g. "stores what depends on the thread's number"
  std::uint64_t instruction = 0;  ///< its address
};

/// Finds out whether what a function does with its thread's number and with the number of threads is right in a team of any
/// size: it divides a static loop without a chunk size as gcc does it (see value.h), or it asks whether it is thread 0.
///
/// Follows all ways through the function, with what registers and words of the stack hold as far as that depends on the team,
/// until nothing new is learnt (abstract interpretation). A query is proved only if on no way such a value reaches an address, a
/// store outside of the frame, an argument, a return, a branch, or an instruction that is not known, but through that division.
/// Not seen yet, so that it is no proof for code which was written to defeat it: values that differ by which way a thread came,
/// after the ways have met (`id == 0 ? a : b`); what only threads with one iteration more do; a share that is used for something
/// else than the loop; addresses of the stack that were changed bit by bit, or are counted downwards; remnants that are meant to
/// be arguments (n % count). Each is in tests/queries/missed.c.
/// What cannot be followed is not proved: jumps through tables, instructions that cannot be decoded, functions without unwind
/// tables. Fortran's own names (omp_get_thread_num_) are the program's, and are never proved.
///
/// @param address any in the function
/// @param body a function that is known to be a region's body, which returns nothing; 0: none
Proof prove(const Image& image, std::uint64_t address, std::uint64_t body);

}  // namespace steelyard::partition

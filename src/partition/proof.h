// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "partition/image.h"

namespace steelyard::partition {

/// A limit of time: a function of 19,000 instructions takes 0.15 s (tests/queries/test_corpus.py). Longer functions are
/// not analysed.
inline constexpr int kMostInstructions = 20'000;
/// The reason for such a function, and for one with too many ways through it.
inline constexpr const char* kTooLong = "is too long to be analysed";

/// A call of omp_get_num_threads() or omp_get_thread_num() in compiled code.
struct Query {
  std::uint64_t return_address = 0;  ///< in the image's own addresses
  bool proved = false;
};

/// What is known of the queries of one function.
struct Proof {
  std::vector<Query> queries;
  /// Why they are not proved: what the function does, e.g. "computes an address from the thread ID or the team size".
  std::string reason;
  std::uint64_t instruction = 0;  ///< where it does so
};

/// Finds out whether what a function does with its thread's number and with the number of threads is right in a team of
/// any size: it divides a static loop without a chunk size as gcc does it (see value.h), or it asks whether it is
/// thread 0.
///
/// Follows all ways through the function, with what registers and words of the stack hold as far as that depends on the
/// team, until nothing new is learnt (abstract interpretation). A query is proved only if on no way
/// 1. such a value reaches an address, memory outside of the function's own stack, an argument, a return, a branch, or
///    an instruction that is not known, but as the index of an iteration that is computed by that division;
/// 2. the share does anything but decide how often a loop runs, or be a length in memset() and the like;
/// 3. a branch between threads (is this thread 0, has it one iteration more) leaves another value in a register or in
///    the stack, lets any thread but thread 0 store or call something before its ways have met, or repeats code;
/// 4. a word of the stack holds such a value while an address of the stack is known outside of the function.
/// A division that the program writes by hand to the letter of gcc's cannot be told from it, nor
/// `if (omp_get_thread_num() == 0)` from `master`. It is taken for granted that all threads reach such a division, and
/// divide the same: a program may have its loop executed by thread 0 alone, or divide otherwise after an iteration.
/// What cannot be followed is not proved: jumps through tables whose highest index is not known (see jump_table.h),
/// instructions that cannot be decoded, functions without unwind tables. Fortran's own names (omp_get_thread_num_) are
/// the program's, and are never proved.
///
/// @param address any in the function
/// @param body a function that is known to be a region's body, which returns nothing; 0: none
Proof prove(const Image& image, std::uint64_t address, std::uint64_t body);

}  // namespace steelyard::partition

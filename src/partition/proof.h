// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "partition/image.h"

namespace steelyard::partition {

/// Functions with more instructions are not analysed, to limit the time: one of 19,000 instructions takes 0.15 s
/// (tests/queries/test_corpus.py).
inline constexpr int kMostInstructions = 20'000;
/// Proof::reason of such a function, and of one with too many ways through it.
inline constexpr const char* kTooLong = "is too long to be analysed";

/// A call of omp_get_num_threads() or omp_get_thread_num() in compiled code.
struct Query {
  std::uint64_t return_address = 0;  ///< see Image for addresses
  bool proved = false;
};

/// What is known of the queries of one function.
struct Proof {
  std::vector<Query> queries;
  /// Why they are not proved: what the function does, e.g. "computes an address from the thread ID or the team size".
  std::string reason;
  std::uint64_t instruction = 0;  ///< the instruction that does so
};

/// Finds out which thread queries of a function are correct in a team of any size: the function divides a static loop
/// without a chunk size as gcc does it (see value.h), or it asks whether it is thread 0.
///
/// Abstract interpretation: follows all ways through the function (control_flow_graph.h) with what registers and words
/// of the stack hold, as far as that depends on the team (state.h), until nothing changes. A query is proved only if on
/// no way
/// 1. a value that depends on it reaches an address, memory outside of the function's own stack, an argument, a return,
///    a branch, or an instruction that is not known, unless the value is the index of an iteration, computed by that
///    division;
/// 2. the share does anything but decide how often a loop runs, or be a length in memset() and the like;
/// 3. a divergent branch (is this thread 0, has it one iteration more) leaves another value in a register or in the
///    stack, lets any thread but thread 0 store or call something before its ways have met, or repeats code;
/// 4. a word of the stack holds such a value while other functions may know its address.
/// A division that a program writes by hand exactly as gcc does cannot be told from gcc's own, nor
/// `if (omp_get_thread_num() == 0)` from `master`. The proof assumes that all threads reach such a division and divide
/// the same: a program may have its loop executed by thread 0 alone, or divide otherwise after an iteration.
/// Not proved is what cannot be followed: jumps through tables whose highest index is not known (see jump_table.h),
/// instructions that cannot be decoded, functions without unwind tables. Calls by Fortran's names (omp_get_thread_num_)
/// come from the source, and are never proved.
///
/// @param address any address in the function
/// @param body where a function begins that is known to be the body of a region, and so returns nothing; 0: none
Proof prove(const Image& image, std::uint64_t address, std::uint64_t body);

}  // namespace steelyard::partition

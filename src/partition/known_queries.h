// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace steelyard::partition {

/// Whether this process's code is right in a team of any size after a call of omp_get_thread_num() or
/// omp_get_num_threads() that returns to `return_address` (see proof.h). The first call from a function decodes it, in
/// about a millisecond; others find the answer in a table. From any thread.
/// @param body the function that the present region runs, which returns nothing; null where that is not known
bool is_proved(const void* return_address, const void* body);
/// Whether the body of a region has a query that is not proved, executed so far or not. From any thread.
bool may_ask(const void* body);
/// Whether the threads of a team may run this region's body one after the other in one thread (see independence.h).
/// Decodes it and what it calls, which may take 10 ms. From any thread.
bool is_independent(const void* body);
/// Time on a core that all of this has taken until now.
std::int64_t decoding_ns();
/// Before and after a library is unloaded: another library may have its addresses. From any thread.
void forget_all();
/// Changes whenever what was known of code, by its addresses, is so no more. From any thread.
std::uint32_t code_generation();

}  // namespace steelyard::partition

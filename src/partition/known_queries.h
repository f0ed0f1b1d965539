// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>

namespace steelyard::partition {

class NodeAnswers;

/// Whether this process's code is right in a team of any size after a call of omp_get_thread_num() or
/// omp_get_num_threads() that returns to `return_address` (see proof.h). The first call from a function decodes it, in
/// about a millisecond; others find the answer in a table. From any thread.
/// @param body the function that the present region runs, which returns nothing; null where that is not known
bool is_proved(const void* return_address, const void* body);
/// Whether the body of a region has a query that is not proved, executed so far or not. From any thread.
bool may_ask(const void* body);
/// Why the threads of a team may not run this region's body one after the other in one thread (see independence.h);
/// empty where they may. Decodes it and what it calls, which may take 10 ms. From any thread.
std::string why_not_independent(const void* body);
/// From now on, what another process of the node has found out is not decoded again. Null ends that. From any thread.
/// @param answers outlives this
void share_answers(NodeAnswers* answers);
/// Before a body's queries are asked about for the first time. False while another process of the node decodes it.
/// From any thread.
bool claim(const void* body);
/// A body that was claimed will not be decoded. From any thread.
void release(const void* body);
/// Time on a core that all of this has taken until now: in this process, and in all that share answers with it.
std::int64_t decoding_ns();
std::int64_t decoding_on_node_ns();
/// Before and after a library is unloaded: another library may have its addresses. From any thread.
void forget_all();
/// Changes whenever what was known of code, by its addresses, is so no more. From any thread.
std::uint32_t code_generation();

}  // namespace steelyard::partition

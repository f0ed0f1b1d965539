// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>

namespace steelyard::partition {

class NodeAnswers;

// Proofs about code that is loaded in this process, each found out once. All functions may be called from any thread.

/// Returns true if a thread query is correct in a team of any size (see proof.h). The first call for a query of a
/// function decodes that function, in about a millisecond; others find the answer in a table.
/// @param return_address of the call of omp_get_thread_num() or omp_get_num_threads()
/// @param body the function that the present region runs, which returns nothing; null if it is not known
bool is_proved(const void* return_address, const void* body);
/// Returns true if the body of a region has a query that is not proved, whether executed so far or not.
bool has_unproved_query(const void* body);
/// Why the threads of a team may not run this region's body one after the other in one thread (see independence.h);
/// empty if they may. Decodes the body and what it calls, which may take 10 ms.
std::string why_not_independent(const void* body);
/// From now on, what another process of the node has found out is not decoded again. Null ends that.
/// @param answers must outlive its use here
void share_answers(NodeAnswers* answers);
/// Claims the decoding of a region's body: call it before has_unproved_query() is called for the first time.
/// @return false while another process of the node decodes that body
bool claim_decoding(const void* body);
/// A body that this process has claimed will not be decoded.
void release_decoding(const void* body);
/// ns of CPU time that all of this has taken so far in this process.
std::int64_t decoding_ns();
/// The same for all processes that share answers with this one.
std::int64_t decoding_on_node_ns();
/// ns that the proof about a region's body is expected to take in this process, if the body has queries: by its size
/// and the proofs so far. 0 if another process of the node has the answer, or if the size is not known.
/// @param prior see ProofTime::expected()
std::int64_t expected_decoding_ns(const void* body, std::int64_t prior);
/// Something else is known of the code at an address, too: if its program or library is unloaded, code_generation()
/// changes. Asked about the code at an address, the functions above do the same.
void follow_code(std::uint64_t address);
/// Call it after dlclose(). If that has unloaded a library whose code is known, forgets all of it: another library may
/// get its addresses. Cheap if no library was unloaded.
void library_closed();
/// Changes when library_closed() forgets: what was known of code by its address is then no longer valid.
std::uint32_t code_generation();

}  // namespace steelyard::partition

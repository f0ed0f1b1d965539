// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "observe/record.h"

// Ranks and regions that keep the program's thread count: the sentences that say so, for records and for the summary.
namespace steelyard::observe {

/// Why regions keep the program's thread count (KeptRegion::repeats_work tells which).
enum class KeptReason : std::uint8_t {
  query_thread_ids,
  repeat_work  ///< they share out no work, so each thread repeats it
};
inline constexpr std::array kKeptReasons = {KeptReason::query_thread_ids, KeptReason::repeat_work};

/// The reason of a rank that spends most of its time in such regions: RankRecord::fixed_reason.
std::string kept_reason(KeptReason reason);
/// The remark about such regions of all ranks; "" if they take too little time to matter.
/// @param record with all kept regions and the totals of all ranks
std::string kept_remark(const RunRecord& record, KeptReason reason);

/// The remark of a rank that keeps its thread count for this reason: Contribution::remarks.
std::string fixed_remark(const std::string& reason);
/// A remark of some of the ranks as RunRecord::remarks has it.
/// @param all the number of all ranks
std::string remark_of(const std::vector<int>& ranks, std::size_t all, const std::string& remark);
/// True if a remark of the record says that these ranks keep their thread count for this reason.
bool is_remarked(const RunRecord& record, const std::vector<int>& ranks, const std::string& reason);

}  // namespace steelyard::observe

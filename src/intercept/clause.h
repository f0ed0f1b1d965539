#pragma once

namespace steelyard::intercept {

/// True once after this thread met a num_threads clause: the region that follows asks for its number of threads.
bool take_clause_flag();

}  // namespace steelyard::intercept

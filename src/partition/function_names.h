// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace steelyard::partition {

/// The names of the functions that contain these addresses. Reads the symbols of each file that contains some of them:
/// about 3 ms for 10,000 functions. May be called from any thread.
///
/// @param addresses in code of this process
/// @return a name for each address, as in the source; "" if the file is stripped or there is no function
std::vector<std::string> function_names(const std::vector<std::uint64_t>& addresses);

}  // namespace steelyard::partition

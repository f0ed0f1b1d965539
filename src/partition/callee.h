#pragma once
#include <cstdint>
#include <string_view>

namespace steelyard::partition {

/// Whom a call calls.
struct Callee {
  std::string_view name;      ///< of an imported function; empty for others
  std::uint32_t reads = ~0u;  ///< general registers that it may read, a bit each
  int query = -1;             ///< the number of this query in the function
};

/// Of the arguments in general registers, how many an imported function of the OpenMP runtime, the C or the C++ library takes. 6,
/// which is the most, for functions that are not known.
int arguments_of(std::string_view name);

}  // namespace steelyard::partition

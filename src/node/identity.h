#pragma once
#include <cstdint>

namespace steelyard::node {

/// A number that all processes of this node get, and those of another node another one: nearly always, as it has 31 bits.
std::int32_t identity();

}  // namespace steelyard::node

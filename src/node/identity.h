// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace steelyard::node {

/// A number that all processes get that can share memory, and those of another node another one: nearly always, as it
/// has 31 bits.
std::int32_t identity();

}  // namespace steelyard::node

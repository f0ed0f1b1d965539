// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

namespace steelyard::base {

/// True for programs such as mpirun, that start ranks: `steelyard run` belongs behind them.
/// @param program with or without directories
bool is_launcher_program(std::string_view program);

}  // namespace steelyard::base

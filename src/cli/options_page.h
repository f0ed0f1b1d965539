// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace steelyard::cli {

/// All options with their values, defaults and meaning, for the terminal.
std::string options_page();

/// The man page of `steelyard` with all options, in roff.
std::string options_manual();

/// What `steelyard run --help` prints: the options that most users need, and examples.
std::string run_help();

/// What `steelyard doctor --help` prints.
std::string doctor_help();

}  // namespace steelyard::cli

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace steelyard::cli {

/// Breaks at blanks, so that no line is longer than 100 characters; every line begins with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent);

/// All options with their values, defaults and meaning, for the terminal.
std::string options_page();

/// The man page of `steelyard` with all options, in roff.
std::string options_manual();

/// What `steelyard run --help` prints: the options that most users need, and examples.
std::string run_help();

/// What `steelyard doctor --help` prints.
std::string doctor_help();

}  // namespace steelyard::cli

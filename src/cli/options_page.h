// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"

namespace steelyard::cli {

/// Breaks at blanks, so that no line is longer than 100 characters; every line begins with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent);

/// All options with their values, defaults and meaning, for the terminal.
std::string options_page();

/// The part of that page about a topic. Failure: no option has to do with it; the sentence names the nearest topic.
/// @param topic an option's name, a part of it, or a word of a heading: "max-threads", "cores"; also a variable's name
/// @param page empty where there is none
base::Status options_about(std::string topic, std::string& page);

/// The man page of `steelyard` with all options, in roff.
std::string options_manual();

/// What `steelyard run --help` prints: the options that most users need, and examples.
std::string run_help();

/// What `steelyard doctor --help` prints.
std::string doctor_help();

}  // namespace steelyard::cli

#pragma once
#include <string>

namespace steelyard::cli {

/// All options with defaults, values and variables, for reading in a terminal.
std::string options_page();

/// The same as the OPTIONS section of a man page, in roff.
std::string options_manual();

}  // namespace steelyard::cli

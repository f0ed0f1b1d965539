// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace steelyard::cli {

/// A script for bash that completes the commands of `app`, their options, and the values of options in the option
/// table. zsh takes it by bashcompinit.
std::string completion_script(const CLI::App& app);

}  // namespace steelyard::cli

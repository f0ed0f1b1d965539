// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace steelyard::cli {

/// What `--help` prints after the words of `app` have been parsed: about the command among them, else about all.
std::string help(const CLI::App& app);

}  // namespace steelyard::cli

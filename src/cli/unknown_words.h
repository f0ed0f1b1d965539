// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace steelyard::cli {

/// Names the first word that `app` does not know, with the nearest command or option; "" if it knows all. The options
/// of `run` and `doctor` are left to OptionWords, which knows former names, too.
std::string unknown_words(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace steelyard::cli

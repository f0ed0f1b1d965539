// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace steelyard::cli {

/// True for an option such as `--html=`, whose value is an empty text.
bool has_no_value(const std::string& word);

/// Names the first word that `app` does not know, with the nearest command or option, or that is empty; "" if there is
/// none. The options
/// of `run` and `doctor` are left to OptionWords, which knows former names, too.
std::string unknown_words(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace steelyard::cli

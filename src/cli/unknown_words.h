// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace steelyard::cli {

/// True for an option such as `--html=`, whose value is an empty text.
bool has_no_value(const std::string& word);

/// True for an option that is followed by a value, such as `--html=FILE`.
bool takes_value(const CLI::Option& option);

/// Names the first word that is empty, or that `app` does not know, with the nearest command or option; "" if there is
/// no such word. OptionWords examines the options of `run` and `doctor`, because it also knows former names.
std::string unknown_words(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace steelyard::cli

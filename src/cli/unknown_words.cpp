// SPDX-License-Identifier: BSD-3-Clause
#include "cli/unknown_words.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

#include "base/nearest.h"

namespace steelyard::cli {
namespace {

/// The option that `word` names, without its value; nullptr where `command` has no such option.
const CLI::Option* option_of(const CLI::App& command, const std::string& word) {
  return command.get_option_no_throw(word.substr(0, word.find('=')));
}

std::string unknown_option(const CLI::App& command, const std::string& word, const std::string& help) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return base::unknown_word("option", word.substr(0, word.find('=')), {names.begin(), names.end()}, help);
}

int positional_words(const CLI::App& command) {
  int most = 0;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) most = std::max(most, option->get_items_expected_max());
  }
  return most;
}

std::string unknown_in(const CLI::App& command, const std::vector<std::string>& words) {
  const std::string help = fmt::format("see `steelyard {} --help`", command.get_name());
  int positional = 0;
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].empty()) {
      return fmt::format("argument {} of `steelyard {}` is '': is a variable of the shell not set? {}", i,
                         command.get_name(), help);
    }
    if (!words[i].starts_with('-')) {
      if (++positional > positional_words(command)) {
        return fmt::format("`steelyard {}` takes {}; what is {}? {}", command.get_name(),
                           positional == 1 ? "no argument" : "no further argument", words[i], help);
      }
      continue;
    }
    const CLI::Option* const option = option_of(command, words[i]);
    if (option == nullptr) return unknown_option(command, words[i], help);
    if (has_no_value(words[i])) {
      return fmt::format("{} has no value; write {}{}", words[i], option->get_name(),
                         takes_value(*option) ? "=" + option->get_type_name() : "");
    }
    if (takes_value(*option) && words[i].find('=') == std::string::npos && i + 1 < words.size() &&
        !words[i + 1].empty())
      ++i;
  }
  return {};
}

}  // namespace

bool has_no_value(const std::string& word) { return word.starts_with("--") && word.find('=') == word.size() - 1; }

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string unknown_words(const CLI::App& app, const std::vector<std::string>& words) {
  constexpr std::string_view help = "see `steelyard --help`";
  if (words.empty()) return {};
  const std::string& first = words[0];
  if (first.empty()) return fmt::format("the command is '': is a variable of the shell not set? {}", help);
  if (first.starts_with('-')) {
    if (option_of(app, first) != nullptr) return {};
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (option_of(*command, first) != nullptr)
        return fmt::format("{0} is an option of `steelyard {1}`: write `steelyard {1} {0} ...`", first,
                           command->get_name());
    }
    return unknown_option(app, first, std::string(help));
  }
  std::vector<std::string_view> commands{"help"};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == first) return command->get_allow_extras() ? "" : unknown_in(*command, words);
    commands.push_back(command->get_name());
  }
  if (first.find('/') != std::string::npos)
    return fmt::format("{0} is no command of Steelyard; to start it: `steelyard run {0} ...`", first);
  return base::unknown_word("command", first, commands, help);
}

}  // namespace steelyard::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "cli/command_line.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/config_file.h"
#include "cli/binary.h"

namespace steelyard::cli {
namespace {

using base::Environment;
using base::Option;
using base::Options;
using base::Status;

std::string flag_name(std::string_view name) { return fmt::format("--{}", name); }

bool takes_the_next_word(std::string_view word) {
  if (!word.starts_with("--") || word.find('=') != std::string_view::npos) return false;
  const auto* option = base::find_option(word.substr(2));
  return option && !option->is_switch() && !option->on_alone;
}

/// What a surrounding `steelyard run` has handed to its own program says nothing about this one.
Environment without_internals(Environment environment) {
  for (const auto& option : base::option_table()) {
    if (option.internal) environment.erase(option.variable());
  }
  return environment;
}

/// Names that say nothing of load balancing, so that a program may well have an option of that name.
bool is_usual(std::string_view option) {
  constexpr std::string_view names[] = {"config", "max-threads", "mpi",     "record", "smt",
                                        "spin",   "summary",     "verbose", "wait"};
  return std::ranges::find(names, option) != std::end(names);
}

}  // namespace

std::size_t words_before_program(const std::vector<std::string>& words, std::size_t first) {
  std::size_t at = first;
  while (at < words.size() && words[at].starts_with('-')) {
    if (words[at] == "--") return at + 1 - first;
    at += takes_the_next_word(words[at]) ? 2 : 1;
  }
  return std::min(at, words.size()) - first;
}

std::vector<std::string> options_after_program(const std::vector<std::string>& program) {
  std::vector<std::string> found;
  for (std::size_t i = 1; i < program.size() && file_name(program[i - 1]) != "steelyard"; ++i) {
    const std::string_view word = program[i];
    const auto equals = std::min(word.find('='), word.size());
    const auto* option = word.starts_with("--") ? base::find_option(word.substr(2, equals - 2)) : nullptr;
    if (option == nullptr || option->internal || is_usual(option->name)) continue;
    std::string_view value = "on";
    if (equals < word.size()) {
      value = word.substr(equals + 1);
    } else if (takes_the_next_word(word)) {
      value = i + 1 < program.size() ? std::string_view(program[i + 1]) : "";
    }
    Options ignored;
    if (base::assign(ignored, *option, value, "")) found.emplace_back(word);
  }
  return found;
}

OptionWords::OptionWords(CLI::App& command) : command_(command) {
  command.allow_extras();  // resolve() names the option that was meant
  words_.reserve(base::option_table().size());
  for (const auto& option : base::option_table()) {
    if (option.internal) continue;
    auto& word = words_.emplace_back(Word{&option, {}});
    const auto name = flag_name(option.name);
    const auto doc = fmt::format("{} [{}]", option.doc, base::text_of(Options(), option));
    auto* added = option.is_switch() || option.on_alone
                      ? command.add_flag(name, word.text, doc)
                      : command.add_option(name, word.text, doc)->type_name(option.value_name());
    added->group(std::string(option.group))->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

Status OptionWords::resolve(const Environment& environment, Options& options) const {
  for (const auto& word : command_.remaining()) {
    if (word == "-n" || word == "-np") {
      return Status::failure(fmt::format(
          "unknown option {}; the number of ranks is an option of mpirun: `mpirun -n N steelyard run ./app`", word));
    }
    if (word != "--") return Status::failure(base::unknown_name("option", word.substr(0, word.find('=')), flag_name));
  }
  const auto users = without_internals(environment);
  std::vector<std::string> complaints;
  Options outer;  // only to find out which config file it is
  base::override_from(users, outer, complaints);
  if (!complaints.empty()) return Status::failure(complaints.front());

  const auto assign_words = [&](Options& target) -> Status {
    for (const auto& word : words_) {
      const auto name = flag_name(word.option->name);
      if (command_.count(name) == 0) continue;
      if (auto status = base::assign(target, *word.option, word.text, name); !status) return status;
    }
    return {};
  };
  if (auto status = assign_words(outer); !status) return status;
  if (!outer.config.empty()) {
    if (auto status = base::override_from_file(outer.config, options); !status) return status;
  }
  base::override_from(users, options, complaints);
  return assign_words(options);
}

}  // namespace steelyard::cli

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "base/options.h"

namespace CLI {
class App;
}

namespace steelyard::cli {

/// Number of words from `words[first]` on that are Steelyard's, a `--` before the program included; what follows is the
/// program and its own options.
std::size_t words_before_program(const std::vector<std::string>& words, std::size_t first);

/// The arguments of a program that are options of Steelyard, with a value that Steelyard takes. Those behind an inner
/// `steelyard` are that command's, and those with usual names, such as --verbose, may well be the program's.
std::vector<std::string> options_after_program(const std::vector<std::string>& program);

/// The options of the table as one subcommand hears them.
class OptionWords {
 public:
  /// Adds all that users can set to `command`. Must outlive its parsing.
  explicit OptionWords(CLI::App& command);

  /// After parsing: defaults, overridden by the config file, the environment and the command line, each by the next.
  /// Failure: the first bad name or value.
  base::Status resolve(const base::Environment& environment, base::Options& options) const;

 private:
  struct Word {
    const base::Option* option;
    std::string text;
  };
  std::vector<Word> words_;
  CLI::App& command_;
};

}  // namespace steelyard::cli

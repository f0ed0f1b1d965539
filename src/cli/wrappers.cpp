// SPDX-License-Identifier: BSD-3-Clause
#include "cli/wrappers.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/launcher.h"

namespace steelyard::cli {
namespace {

/// Programs that execute the program in their arguments on this system, by exec or as a child.
bool is_wrapper(std::string_view program) {
  constexpr std::string_view names[] = {"chrt",   "env",    "gdb",     "hwloc-bind", "ionice",  "linux64", "likwid-pin",
                                        "nice",   "nohup",  "numactl", "perf",       "prlimit", "setarch", "setsid",
                                        "stdbuf", "strace", "taskset", "time",       "timeout"};
  return std::ranges::find(names, file_name(program)) != std::end(names);
}

/// A word after `env` by which it starts the program without LD_PRELOAD, or with another.
bool drops_preload(std::string_view word) {
  return word == "-" || word == "-i" || word == "--ignore-environment" || word.find("LD_PRELOAD") != std::string::npos;
}

/// Starts the program in its arguments in ways of its own, without the libraries that are preloaded here.
bool starts_ranks_itself(const std::string& path) {
  return is_launcher_program(path) || file_name(path) == "valgrind" || file_name(path) == "steelyard";
}

}  // namespace

bool is_shell(std::string_view program) {
  constexpr std::string_view names[] = {"sh", "bash", "csh", "dash", "fish", "ksh", "mksh", "tcsh", "zsh"};
  return std::ranges::find(names, file_name(program)) != std::end(names);
}

std::vector<std::string> with_shell_words(const std::vector<std::string>& words) {
  std::vector<std::string> expanded;
  bool of_shell = false, is_commands = false;
  for (const auto& word : words) {
    if (!is_commands) {
      expanded.push_back(word);
      // `bash -ec`; `--norc` is another kind of option
      is_commands = of_shell && word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
      of_shell = is_shell(word) || (of_shell && word.starts_with('-'));
      continue;
    }
    constexpr std::string_view between = " \t\n;&|()'\"";
    for (std::string_view rest = word; !rest.empty();) {
      const auto end = std::min(rest.find_first_of(between), rest.size());
      if (end > 0) expanded.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    of_shell = is_commands = false;
  }
  return expanded;
}

Wrapped program_behind_wrappers(const std::vector<std::string>& words, const Site& site) {
  if (!is_wrapper(words[0]) && !is_shell(words[0])) return {};
  bool sets_environment = file_name(words[0]) == "env" || is_shell(words[0]);
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (sets_environment && drops_preload(word)) return {};
    if (word.starts_with('-') || word.find('=') != std::string::npos) continue;
    const auto found = locate(word, site.value_of("PATH"));
    if (found.error != 0) continue;
    if (starts_ranks_itself(found.path)) return {};
    // `perf stat ./app`: a word may be the name of a program that has nothing to do with it.
    auto binary = read_binary(found.path, site.libraries());
    if (binary.mpi() != Mpi::none || is_julia(binary)) return {at, std::move(binary)};
    sets_environment = file_name(word) == "env" || is_shell(word);
  }
  return {};
}

Started decide_on_command(const std::vector<std::string>& command, const base::Options& options, const Site& site,
                          int& error) {
  const auto words = with_shell_words(command);
  const auto first = locate(words[0], site.value_of("PATH"));
  error = first.error;
  if (error != 0) return {};
  auto [behind, wrapped] = program_behind_wrappers(words, site);
  Started started;
  started.path = first.path;
  started.shown = words[behind];
  started.binary = behind > 0 ? std::move(wrapped) : read_binary(first.path, site.libraries());
  started.decision = decide(started.binary, started.shown, options, site);
  // Julia loads its MPI later, with and without a wrapper.
  if (behind > 0 && started.binary.mpi() != Mpi::none)
    started.decision.awaits_mpi = started.decision.kind == Decision::Kind::measure;
  return started;
}

}  // namespace steelyard::cli

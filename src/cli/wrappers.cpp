// SPDX-License-Identifier: BSD-3-Clause
#include "cli/wrappers.h"

#include <fmt/format.h>

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

/// How words[at], of `env` or of a shell's command, takes Steelyard's library out of LD_PRELOAD; "" if it does not.
std::string dropped_by(const std::vector<std::string>& words, std::size_t at, bool of_env) {
  const std::string_view word = words[at], before = words[at - 1];
  if (of_env && (word == "-" || word == "-i" || word == "--ignore-environment")) return fmt::format("env {}", word);
  if (word == "--unset=LD_PRELOAD" || word == "-uLD_PRELOAD") return fmt::format("env {}", word);
  if (word == "LD_PRELOAD" && (before == "-u" || before == "--unset")) return "env -u LD_PRELOAD";
  if (word == "LD_PRELOAD" && before == "unset") return "unset LD_PRELOAD";
  if (!word.starts_with("LD_PRELOAD=")) return {};
  // A quoted value is the next word: LD_PRELOAD="$LD_PRELOAD:x".
  // The value of a variable or of a command, such as $LD_PRELOAD, may contain Steelyard's library.
  const auto keeps = [](std::string_view value) {
    return value.find_first_of("$`") != std::string_view::npos || value.find("libsteelyard-") != std::string_view::npos;
  };
  const std::string_view next = at + 1 < words.size() ? std::string_view(words[at + 1]) : "";
  if (keeps(word) || keeps(next)) return {};
  const bool quoted = word.ends_with('=') && next.find(".so") != std::string_view::npos;
  return fmt::format("{}{}", word, quoted ? next : "");
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
    constexpr std::string_view between = " \t\n;&|()'\"", ends_command = "\n;&|";
    for (std::string_view rest = word; !rest.empty();) {
      const auto end = std::min(rest.find_first_of(between), rest.size());
      if (end > 0) expanded.emplace_back(rest.substr(0, end));
      if (end < rest.size() && ends_command.find(rest[end]) != std::string_view::npos) expanded.emplace_back(";");
      if (end < rest.size() && rest[end] == ')') expanded.emplace_back(")");
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    of_shell = is_commands = false;
  }
  return expanded;
}

Wrapped program_behind_wrappers(const std::vector<std::string>& words, const Site& site) {
  if (!is_wrapper(words[0]) && !is_shell(words[0])) return {};
  std::string wrapper = words[0], dropped;
  bool lasts = false;  // beyond the command that drops it
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    const bool of_env = file_name(wrapper) == "env";
    if (auto drop = of_env || is_shell(wrapper) ? dropped_by(words, at, of_env) : ""; !drop.empty()) {
      dropped = std::move(drop);
      lasts = words[at - 1] == "export" || words[at - 1] == "unset";
    }
    if ((word == ";" && !dropped.empty() && !lasts) || (word == ")" && !dropped.empty()))
      return {};  // LD_PRELOAD may reach what follows
    if (word == ";") {
      wrapper = "sh";
      continue;
    }
    if (word.starts_with('-') || word.find('=') != std::string::npos) continue;
    const auto found = locate(word, site.value_of("PATH"));
    if (found.error != 0) continue;
    if (starts_ranks_itself(found.path)) return {};
    // `perf stat ./app`: a word may be the name of a program that has nothing to do with it.
    auto binary = read_binary(found.path, site.libraries());
    if (binary.mpi() != Mpi::none || is_julia(binary)) {
      const bool goes_on = std::find(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), ";") != words.end();
      if (!dropped.empty() && goes_on) return {};
      return {at, std::move(binary), std::move(dropped)};
    }
    wrapper = word;
  }
  return {};
}

namespace {

/// The program behind `dropped` starts without Steelyard's library, whatever `steelyard run` preloads.
Decision decide_on_dropped(const std::string& dropped, const std::string& shown) {
  Decision decision;
  decision.kind = Decision::Kind::pass_through;
  const bool sets = dropped.starts_with("LD_PRELOAD=");
  // `env -i steelyard run` would take PATH and the launcher's variables from Steelyard.
  const bool clears = dropped.starts_with("env -") && dropped.find("LD_PRELOAD") == std::string::npos;
  const auto instead = sets     ? fmt::format("write it before: `env {} steelyard run {}`", dropped, shown)
                       : clears ? fmt::format("unset single variables: `steelyard run env -u NAME {}`", shown)
                                : fmt::format("write it before: `env -u LD_PRELOAD steelyard run {}`", shown);
  decision.sentence = fmt::format(
      "`{0}` after `steelyard run` removes Steelyard's library from LD_PRELOAD: {1} starts without it, and nothing is "
      "balanced; leave it out, or {2}",
      dropped, shown, instead);
  return decision;
}

}  // namespace

Started decide_on_command(const std::vector<std::string>& command, const base::Options& options, const Site& site,
                          int& error) {
  const auto words = with_shell_words(command);
  const auto first = locate(words[0], site.value_of("PATH"));
  error = first.error;
  if (error != 0) return {};
  auto [behind, wrapped, dropped] = program_behind_wrappers(words, site);
  Started started;
  started.path = first.path;
  started.shown = words[behind];
  started.binary = behind > 0 ? std::move(wrapped) : read_binary(first.path, site.libraries());
  started.decision = decide(started.binary, started.shown, options, site);
  if (!dropped.empty() && started.decision.kind == Decision::Kind::measure)
    started.decision = decide_on_dropped(dropped, started.shown);
  // Julia loads its MPI later, with and without a wrapper.
  if (behind > 0 && started.binary.mpi() != Mpi::none)
    started.decision.awaits_mpi = started.decision.kind == Decision::Kind::measure;
  return started;
}

}  // namespace steelyard::cli

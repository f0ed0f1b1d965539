// SPDX-License-Identifier: BSD-3-Clause
#include "cli/wrappers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/launcher_program.h"
#include "base/locate.h"

namespace steelyard::cli {
namespace {

/// Programs that execute the program in their arguments on this system, by exec or as a child.
bool is_wrapper(std::string_view program) {
  constexpr std::string_view names[] = {"chrt",   "env",    "gdb",     "hwloc-bind", "ionice",  "linux64", "likwid-pin",
                                        "nice",   "nohup",  "numactl", "perf",       "prlimit", "setarch", "setsid",
                                        "stdbuf", "strace", "taskset", "time",       "timeout"};
  return std::ranges::find(names, file_name(program)) != std::end(names);
}

/// How words[at], of `env` or of a shell's command, takes Steelyard's library out of LD_PRELOAD.
Removal removal_by(const std::vector<std::string>& words, std::size_t at, bool of_env) {
  const std::string_view word = words[at], next = at + 1 < words.size() ? std::string_view(words[at + 1]) : "";
  if (word.starts_with("LD_PRELOAD="))
    return word.find("libsteelyard-") == std::string_view::npos ? Removal::sets : Removal::none;
  if (!of_env || !word.starts_with('-')) return Removal::none;
  if (word == "-" || word == "--ignore-environment") return Removal::clears;
  if (word == "--unset=LD_PRELOAD" || (word == "--unset" && next == "LD_PRELOAD")) return Removal::unsets;
  if (word.starts_with("--")) return Removal::none;
  // Options of one letter, such as -vi: u, C and S take an argument.
  const auto end = word.find_first_of("uCS");
  if (word.substr(0, end).find('i') != std::string_view::npos) return Removal::clears;
  if (end == std::string_view::npos || word[end] != 'u') return Removal::none;
  const auto name = end + 1 < word.size() ? word.substr(end + 1) : next;
  return name == "LD_PRELOAD" ? Removal::unsets : Removal::none;
}

/// `word` as a shell takes it for one word.
std::string quoted(std::string_view word) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  if (word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

/// Starts the program in its arguments in ways of its own, without the libraries that are preloaded here.
bool starts_ranks_itself(const std::string& path) {
  return base::is_launcher_program(path) || file_name(path) == "valgrind" || file_name(path) == "steelyard";
}

}  // namespace

bool is_shell(std::string_view program) {
  constexpr std::string_view names[] = {"sh", "bash", "csh", "dash", "fish", "ksh", "mksh", "tcsh", "zsh"};
  return std::ranges::find(names, file_name(program)) != std::end(names);
}

std::vector<std::string> with_shell_words(const std::vector<std::string>& words) {
  std::vector<std::string> expanded;
  bool of_shell = false, is_command = false;
  for (const auto& word : words) {
    if (!is_command) {
      expanded.push_back(word);
      // `bash -ec`; `--norc` is another kind of option
      is_command = of_shell && word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
      of_shell = is_shell(word) || (of_shell && word.starts_with('-'));
      continue;
    }
    if (word.find_first_of("\n;&|()<>$`'\"\\*?[{~#!") != std::string::npos) return expanded;
    std::istringstream parts(word);
    for (std::string part; parts >> part;) expanded.push_back(part);
    of_shell = is_command = false;
  }
  return expanded;
}

Wrapped program_behind_wrappers(const std::vector<std::string>& words, const Site& site) {
  if (!is_wrapper(words[0]) && !is_shell(words[0])) return {};
  Wrapped wrapped;
  std::string_view wrapper = words[0];
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    const bool of_env = file_name(wrapper) == "env";
    if (const auto removal = of_env || is_shell(wrapper) ? removal_by(words, at, of_env) : Removal::none;
        removal != Removal::none) {
      wrapped.removal = removal;
      wrapped.remover = removal == Removal::sets     ? quoted(word)
                        : removal == Removal::clears ? "env " + word
                                                     : "env -u LD_PRELOAD";
    }
    if (word.starts_with('-') || word.find('=') != std::string::npos) continue;
    const auto found = base::locate(word, site.value_of("PATH"));
    if (found.error != 0) continue;
    if (starts_ranks_itself(found.path)) return {};
    // `perf stat ./app`: a word may be the name of a program that has nothing to do with it.
    wrapped.binary = read_binary(found.path, site.libraries());
    wrapped.place = at;
    if (wrapped.binary.mpi() != Mpi::none || is_julia(wrapped.binary)) return wrapped;
    wrapper = word;
  }
  return {};
}

namespace {

/// The program behind `wrapped.remover` starts without Steelyard's library, whatever `steelyard run` preloads.
Decision decide_on_removal(const Wrapped& wrapped, const std::string& shown) {
  const auto app = quoted(shown);
  Decision decision;
  decision.kind = Decision::Kind::pass_through;
  // `env -i steelyard run` would take PATH and the launcher's variables from Steelyard.
  const auto instead = wrapped.removal == Removal::clears
                           ? fmt::format("unset single variables: `steelyard run env -u NAME {}`", app)
                           : fmt::format("write it before: `{}{} steelyard run {}`",
                                         wrapped.removal == Removal::sets ? "env " : "", wrapped.remover, app);
  decision.sentence = fmt::format(
      "`{0}` after `steelyard run` removes Steelyard's library from LD_PRELOAD: {1} starts without it, and nothing is "
      "balanced; leave it out, or {2}",
      wrapped.remover, shown, instead);
  return decision;
}

}  // namespace

Started decide_on_command(const std::vector<std::string>& command, const base::Options& options, const Site& site,
                          int& error) {
  const auto words = with_shell_words(command);
  const auto first = base::locate(words[0], site.value_of("PATH"));
  error = first.error;
  if (error != 0) return {};
  const auto wrapped = program_behind_wrappers(words, site);
  Started started;
  started.path = first.path;
  started.shown = words[wrapped.place];
  started.binary = wrapped.place > 0 ? wrapped.binary : read_binary(first.path, site.libraries());
  started.decision = decide(started.binary, started.shown, options, site);
  if (wrapped.removal != Removal::none && started.decision.kind == Decision::Kind::measure)
    started.decision = decide_on_removal(wrapped, started.shown);
  // Julia loads its MPI later, with and without a wrapper.
  if (wrapped.place > 0 && started.binary.mpi() != Mpi::none)
    started.decision.awaits_mpi = started.decision.kind == Decision::Kind::measure;
  return started;
}

}  // namespace steelyard::cli

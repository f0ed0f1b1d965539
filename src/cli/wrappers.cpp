// SPDX-License-Identifier: BSD-3-Clause
#include "cli/wrappers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/launcher_program.h"
#include "base/locate.h"

namespace steelyard::cli {
namespace {

/// Characters that a shell may take for more than a part of a word.
constexpr std::string_view kShellSyntax = "\n;&|()<>$`'\"\\*?[{~#!";

/// Programs that execute the program in their arguments on this system, by exec or as a child.
bool is_wrapper(std::string_view program) {
  constexpr std::string_view names[] = {"chrt",   "env",    "gdb",     "hwloc-bind", "ionice",  "linux64", "likwid-pin",
                                        "nice",   "nohup",  "numactl", "perf",       "prlimit", "setarch", "setsid",
                                        "stdbuf", "strace", "taskset", "time",       "timeout"};
  return std::ranges::find(names, file_name(program)) != std::end(names);
}

/// The option of `env` in a word such as -iu, at the letter that takes an argument; the size of the word if there is
/// none. The argument is the rest of the word, or else the next word.
std::size_t option_with_argument(std::string_view word) { return std::min(word.find_first_of("uCSa"), word.size()); }

/// True if the next word is an argument of this one, which `env` takes for an option. That of -S is a command.
bool takes_next_word(std::string_view word) {
  if (word.starts_with("--")) return word == "--unset" || word == "--chdir" || word == "--argv0";
  return word.starts_with('-') && option_with_argument(word) + 1 == word.size() && !word.ends_with('S');
}

/// How words[at], if it is an option of `env`, takes Steelyard's library out of LD_PRELOAD.
Removal removal_by_option(const std::vector<std::string>& words, std::size_t at) {
  const std::string_view word = words[at], next = at + 1 < words.size() ? std::string_view(words[at + 1]) : "";
  if (!word.starts_with('-')) return Removal::none;
  if (word == "-" || word == "--ignore-environment") return Removal::clears;
  if (word == "--unset=LD_PRELOAD" || (word == "--unset" && next == "LD_PRELOAD")) return Removal::unsets;
  if (word.starts_with("--")) return Removal::none;
  const auto end = option_with_argument(word);
  if (word.substr(0, end).find('i') != std::string_view::npos) return Removal::clears;
  if (end == word.size() || word[end] != 'u') return Removal::none;
  const auto name = end + 1 < word.size() ? word.substr(end + 1) : next;
  return name == "LD_PRELOAD" ? Removal::unsets : Removal::none;
}

/// `word` as a shell takes it for one word.
std::string shell_word(std::string_view word) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  if (word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

/// Takes words[at], of `env` or of a shell's command, into account.
void note_removal(const std::vector<std::string>& words, std::size_t at, bool of_env, Wrapped& wrapped) {
  const std::string& word = words[at];
  if (word.starts_with("LD_PRELOAD=")) {
    const bool keeps = word.find("libsteelyard-") != std::string::npos;
    wrapped.assignment = keeps ? "" : shell_word(word);
    if (wrapped.removal == Removal::clears) return;
    wrapped.removal = keeps ? Removal::none : Removal::sets;
    wrapped.remover = wrapped.assignment;
  } else if (wrapped.removal == Removal::clears) {
    return;
  } else if (const auto removal = of_env ? removal_by_option(words, at) : Removal::none; removal != Removal::none) {
    wrapped.removal = removal;
    wrapped.remover = removal == Removal::clears ? "env " + word : "env -u LD_PRELOAD";
  }
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
    if (word.find_first_of(kShellSyntax) != std::string::npos) return expanded;
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
    if (of_env || is_shell(wrapper)) note_removal(words, at, of_env, wrapped);
    if (of_env && takes_next_word(word)) {
      ++at;
      continue;
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
  const auto app = shell_word(shown);
  Decision decision;
  decision.kind = Decision::Kind::pass_through;
  // `env -i steelyard run` would take PATH and the launcher's variables from Steelyard.
  const auto before = wrapped.assignment.empty() ? "" : fmt::format("env {} ", wrapped.assignment);
  const auto instead = wrapped.removal == Removal::clears
                           ? fmt::format("unset single variables: `{}steelyard run env -u NAME {}`", before, app)
                           : fmt::format("write it before: `{}steelyard run {}`",
                                         wrapped.removal == Removal::sets ? before : wrapped.remover + " ", app);
  decision.reason = fmt::format(
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

std::vector<std::string> command_of_script(const Binary& script, const std::vector<std::string>& arguments) {
  std::vector<std::string> command;
  if (!is_shell(script_interpreter(script))) return command;
  std::ifstream file(script.path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "cd" || word == "pushd") return {};
    if (word != "exec") continue;
    std::vector<std::string> found;  // none in `exec >log`
    while (words >> word) {
      if (word == "\"$@\"" || word == "$@") {
        found.insert(found.end(), arguments.begin(), arguments.end());
      } else if (word.find_first_of(kShellSyntax) != std::string::npos) {
        break;
      } else {
        found.push_back(word);
      }
    }
    if (!found.empty()) command = std::move(found);
  }
  return command;
}

std::string not_run_reason(const std::string& program, int error) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool exists = fs::exists(program, ignored);
  std::string reason = std::strerror(error);
  if (error == ENOENT && program.find('/') == std::string::npos) {
    reason = "not found in PATH";
    if (exists) reason += fmt::format("; to run the file in this directory, write ./{}", program);
  } else if (exists && fs::is_directory(program, ignored)) {
    reason = "it is a directory";
  } else if (exists && error == EACCES) {
    reason += fmt::format("; if it is a program: `chmod +x {}`", shell_word(program));
  }
  return fmt::format("cannot run {}: {}", program, reason);
}

}  // namespace steelyard::cli

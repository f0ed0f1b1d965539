// SPDX-License-Identifier: BSD-3-Clause
#include "cli/wrappers.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace steelyard::cli {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

/// Programs that execute the program in their arguments on this system, by exec or as a child.
bool is_wrapper(std::string_view program) {
  constexpr std::string_view names[] = {"chrt",   "env",    "gdb",     "hwloc-bind", "ionice",  "linux64", "likwid-pin",
                                        "nice",   "nohup",  "numactl", "perf",       "prlimit", "setarch", "setsid",
                                        "stdbuf", "strace", "taskset", "time",       "timeout"};
  return std::ranges::find(names, file_name(program)) != std::end(names);
}

/// `env` starts the program without LD_PRELOAD, or with another.
bool drops_preload(const std::vector<std::string>& words, std::size_t from, std::size_t program) {
  if (file_name(words[from]) != "env") return false;
  for (std::size_t i = from + 1; i < program; ++i) {
    const std::string& word = words[i];
    if (word == "-" || word == "-i" || word == "--ignore-environment" || word.find("LD_PRELOAD") != std::string::npos)
      return true;
  }
  return false;
}

}  // namespace

std::size_t program_behind_wrappers(const std::vector<std::string>& words, const Site& site) {
  std::size_t at = 0;
  while (is_wrapper(words[at])) {
    // Options, their values and assignments are not names of executable files.
    std::size_t next = at + 1;
    while (next < words.size() && (words[next].starts_with('-') || words[next].find('=') != std::string::npos ||
                                   locate(words[next], site.value_of("PATH")).error != 0))
      ++next;
    if (next == words.size() || drops_preload(words, at, next)) return 0;
    at = next;
  }
  return at;
}

Started decide_on_command(const std::vector<std::string>& words, const base::Options& options, const Site& site,
                          int& error) {
  const auto first = locate(words[0], site.value_of("PATH"));
  error = first.error;
  if (error != 0) return {};
  Started started;
  started.path = first.path;
  if (const auto behind = program_behind_wrappers(words, site); behind > 0) {
    started.shown = words[behind];
    started.binary = read_binary(locate(started.shown, site.value_of("PATH")).path, site.libraries());
    if (started.binary.mpi() != Mpi::none) {
      started.decision = decide(started.binary, started.shown, options, site);
      started.decision.awaits_mpi = started.decision.kind == Decision::Kind::measure;
      return started;
    }
  }
  started.shown = words[0];
  started.binary = read_binary(started.path, site.libraries());
  started.decision = decide(started.binary, started.shown, options, site);
  return started;
}

}  // namespace steelyard::cli

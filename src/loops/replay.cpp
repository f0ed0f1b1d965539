// SPDX-License-Identifier: BSD-3-Clause
#include "loops/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"

namespace steelyard::loops {
namespace {

std::string counted(std::size_t count) { return fmt::format("{} loop{}", count, count == 1 ? "" : "s"); }

}  // namespace

std::string left_out(const std::vector<std::string>& recorded, const std::vector<Executed>& executed) {
  std::vector<std::string> unknown, otherwise;
  for (const Executed& loop : executed) {
    if (loop.repeats.repeated == loop.repeats.executions) continue;
    const bool known = std::ranges::find(recorded, loop.key) != recorded.end();
    (known ? otherwise : unknown).push_back(loop.key);
  }
  if (recorded.empty()) {
    return fmt::format(
        "--loops-replay repeated nothing, for its file has no assignment of any loop: have it written by a run with "
        "--loops-learn in which the loops are executed by two threads or more");
  }
  if (executed.empty()) {
    return fmt::format(
        "--loops-replay repeated nothing, for no loop was executed by two threads or more, while its file has {} ({}): "
        "run the program with the threads and the options with which it was recorded",
        counted(recorded.size()), base::first_of(recorded));
  }
  if (unknown.size() == executed.size()) {
    return fmt::format(
        "--loops-replay repeated nothing, for none of the loops that ran is in its file, which has {} ({}), while "
        "this run had {} ({}): loops go by their name or by their place in the executable, so record again with "
        "--loops-learn after each build",
        counted(recorded.size()), base::first_of(recorded), counted(executed.size()), base::first_of(unknown));
  }
  if (unknown.empty() && otherwise.empty()) return {};
  const std::string with =
      otherwise.empty() ? "" : fmt::format("with these iterations and threads ({})", base::first_of(otherwise));
  const std::string without = unknown.empty() ? "" : fmt::format("at all ({})", base::first_of(unknown));
  return fmt::format(
      "--loops-replay did not repeat all executions of {} out of {} that ran, which its file does not have {}{}{}: "
      "record again with --loops-learn, in a run with the same input and threads",
      unknown.size() + otherwise.size(), counted(executed.size()), without,
      without.empty() || with.empty() ? "" : ", or not ", with);
}

}  // namespace steelyard::loops

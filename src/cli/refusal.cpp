// SPDX-License-Identifier: BSD-3-Clause
#include "cli/refusal.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "base/log.h"
#include "node/election.h"

namespace steelyard::cli {
namespace {

/// Calls `print` in this process, or in one of the ranks of this node that pass the same `text`.
template <typename Print>
void print_once(const std::string& text, const Launcher& launcher, Print print) {
  node::Election among_ranks(text);
  if (launcher.kind == Launcher::Kind::none || launcher.size == 1) {
    print();
  } else if (among_ranks.elected()) {
    print();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until the other ranks have asked
  } else {
    // Until the text is out: Open MPI's mpirun ends the job, and its output, when the first rank fails.
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
}

}  // namespace

int refuse_to_start(const std::string& sentence, int status, const Launcher& launcher) {
  print_once(sentence, launcher, [&] { base::say(sentence); });
  return status;
}

int print_for_user(const std::string& text, int status, const Launcher& launcher) {
  print_once(text, launcher, [&] {
    fmt::print("{}", text);
    std::fflush(stdout);
  });
  return status;
}

}  // namespace steelyard::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "loops/setup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>

#include "base/log.h"
#include "base/options.h"

namespace steelyard::loops {
namespace {

pid_t g_process = 0;     ///< that has made the registry ready: its children say nothing
bool g_replays = false;  ///< the file of `loops-replay` is used

// Where `loops-learn` is, wherever the process is at its end.
std::string& file_of_learn() {
  static auto& path = *new std::string;
  return path;
}

/// A child that the program has forked: its file is the parent's, and its locks may be held by threads that it has not
/// got.
bool is_a_child() { return getpid() != g_process; }

void save_at_end() try {
  if (is_a_child()) return;
  const base::Status saved = registry().save(file_of_learn());
  if (!saved) base::warn(saved.sentence());
} catch (const std::exception& exception) {
  base::warn(fmt::format("what was learnt of loops is not in {}: {}", file_of_learn(), exception.what()));
}

void warn_of(const base::Status& status) {
  if (!status) base::warn(status.sentence());
}

void tell_what_was_left_out() {
  if (is_a_child()) return;
  const std::string sentence = registry().left_out_of_replay();
  if (!sentence.empty()) base::warn(sentence);
}

/// Without a strategy, what is divided through our own calls has equal parts.
Strategy strategy_of(Strategy option) { return option == Strategy::off ? Strategy::even : option; }

Registry& make_ready() {
  const base::Options& options = base::options();
  Registry& made = registry();
  g_process = getpid();
  made.set_defaults({strategy_of(options.loops), static_cast<double>(options.loops_static_percent) / 100,
                     static_cast<std::uint64_t>(options.loops_chunk), options.decision()});
  if (!options.loops_learn.empty()) {
    // In the first run there is none. A file that is something else stays what it is.
    const bool there = access(options.loops_learn.c_str(), F_OK) == 0;
    const base::Status loaded = there ? made.load(options.loops_learn) : base::Status();
    warn_of(loaded);
    if (loaded) {
      std::error_code unknown;
      file_of_learn() = std::filesystem::absolute(options.loops_learn, unknown).string();
      if (unknown) file_of_learn() = options.loops_learn;
      made.record_assignments(true);
      std::atexit(save_at_end);
    }
  }
  if (!options.loops_replay.empty()) {
    const base::Status replayed = made.replay(options.loops_replay);
    warn_of(replayed);
    g_replays = static_cast<bool>(replayed);
    if (replayed && !options.launched) std::atexit(tell_what_was_left_out);
  }
  return made;
}

}  // namespace

std::string left_out_of_replay() {
  if (base::options().loops_replay.empty()) return {};
  const Registry& ready = ready_registry();
  return g_replays
             ? ready.left_out_of_replay()
             : "--loops-replay repeated nothing, for its file is not used, which a warning has given the reason for";
}

Registry& ready_registry() {
  static Registry& ready = make_ready();
  return ready;
}

}  // namespace steelyard::loops

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "loops/loop.h"

namespace steelyard::loops {

/// "solver+0x1a2b": the module that contains the address, and the offset in it: the same in each run. "0x..." if no
/// module contains it.
std::string site_name(std::uint64_t address);

/// The loops of this process, by call site or by name. Any thread. Loops live as long as the process.
class Registry {
 public:
  /// The settings of loops that are met for the first time from now on.
  void set_defaults(const Settings& settings);
  Settings defaults() const;

  /// The loop at a call site, by return address. Made at the first call; about 5 ns at later calls of the same thread.
  Loop& at(std::uint64_t address);
  Loop& named(std::string_view key);
  std::vector<Loop*> all() const;

  /// Measurements are kept in a file (JSON). Loops of the same key start from them in a later run, also loops that are
  /// met after load(). Failure: a sentence with the path. Saving replaces the file as a whole or not at all, and keeps
  /// its entries of loops that this process has not met.
  /// Processes that run at the same time need a file each.
  base::Status load(const std::string& path);
  base::Status save(const std::string& path) const;
  /// From now on the assignments of a file that was saved with record_assignments() are repeated.
  base::Status replay(const std::string& path);
  /// What was not repeated, as a sentence (replay.h); empty without a replay.
  std::string left_out_of_replay() const;
  void record_assignments(bool on);

  /// The process has executed this loop, and it has waited `ns` in a collective. If that is the first collective since
  /// the last loop, the wait is the slack of that loop.
  void executed(Loop& loop);
  void waited(std::int64_t ns);
  /// A loop uses the slack. If waits are not reported, a warning says so once.
  void want_slack();
  /// Waits are not reported: the process has no MPI, or runs without `steelyard run`.
  void waits_are_not_reported();
  bool wants_slack() const;

 private:
  struct State;
  friend Registry& registry();
  Registry();
  std::unique_ptr<State> state_;
};

/// The registry of this process: made at first use, never destroyed.
Registry& registry();

}  // namespace steelyard::loops

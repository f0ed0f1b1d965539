// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "decide/contest.h"
#include "phases/machine.h"

namespace steelyard::phases {

/// How a phase may run: at most `max_per_resource` processes for each resource of that type, each with `threads`
/// threads.
struct Configuration {
  Resource resource = Resource::machine;
  int max_per_resource = 1;
  int processes = 1;  ///< of this node that work
  int threads = 1;    ///< of the process that has the most threads
  bool operator==(const Configuration&) const = default;
};

/// Runs of a phase of this process, for the run record. It outlives the phase: runs of a phase that is created later
/// with the same properties are added to it, so a program that creates a phase in each step does not fill the memory.
/// Such a phase compares its configurations anew, because processes may free and create phases in different orders.
class Account {
 public:
  /// @param size processes of its context; `me` is one of them
  /// @param configurations those of an autotuned phase; otherwise the only one
  static Account& open(int size, int me, bool autotuned, const std::vector<Configuration>& configurations);

  void close() { open_ = false; }
  void ran(std::int64_t length) {
    ++runs_;
    time_ += length;
  }
  /// Compares the configurations of an autotuned phase.
  std::optional<decide::Contest> contest;

  /// In the order of creation, from 0.
  int number() const { return number_; }
  /// How often a phase of this account was created.
  int created() const { return created_; }
  int size() const { return size_; }
  int me() const { return me_; }
  bool autotuned() const { return autotuned_; }
  const std::vector<Configuration>& configurations() const { return configurations_; }
  /// Of these, the fastest so far.
  std::size_t best() const { return contest ? static_cast<std::size_t>(contest->leader()) : 0; }
  std::int64_t runs() const { return runs_; }
  std::int64_t time() const { return time_; }  ///< ns

 private:
  Account(int number, int size, int me, bool autotuned, const std::vector<Configuration>& configurations)
      : number_(number), size_(size), me_(me), autotuned_(autotuned), configurations_(configurations) {}

  int number_;
  int size_;
  int me_;
  bool autotuned_;
  std::vector<Configuration> configurations_;
  int created_ = 1;
  std::int64_t runs_ = 0;
  std::int64_t time_ = 0;
  bool open_ = true;
};

}  // namespace steelyard::phases

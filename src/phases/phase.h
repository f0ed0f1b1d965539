// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "phases/choice.h"
#include "phases/context.h"

namespace steelyard::phases {

/// Limits of the configurations that an autotuned phase tries.
struct Bounds {
  int min_processes = 1;
  int max_processes = 0;  ///< 0: all
  int max_threads = 0;    ///< 0: no limit but the cores
};
/// The configurations within `bounds`, one for each possible number of processes: from one process for the whole
/// machine to one for each core.
std::vector<Configuration> configurations_between(const Context& context, const Bounds& bounds);

/// A part of the program in which some processes of the node work with more cores while the others sleep.
class Phase {
 public:
  /// At most `max_processes` processes for each resource of that type, with its cores shared among their threads.
  Phase(std::shared_ptr<Context> context, Resource resource, int max_processes);
  /// Autotuned: measures these configurations and stays with the fastest.
  Phase(std::shared_ptr<Context> context, std::vector<Configuration> configurations);
  /// Leaves it where that was forgotten, and says so: others sleep until all have left.
  ~Phase();
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;
  /// The same for all phases of this process. `when` ends a sentence.
  static void leave_all(const char* when);

  /// Collective over the node. A chosen process returns when all processes have entered, bound to its resource. Any
  /// other process returns at once. Each process must call leave() afterwards. leave() fails if the phase was refused
  /// since: a process has called something else. Between enter() and leave() only gather() and scatter() of this
  /// context may be called.
  base::Status enter(bool& chosen);
  /// Collective over the node: all come back when the chosen ones have left.
  base::Status leave();
  base::Status gather(const void* mine, std::size_t bytes, View& all);
  base::Status scatter(const void* from, std::span<const std::size_t> bytes, View& mine);

  bool chosen() const { return distribution_.chosen(context_->me()); }
  /// Threads of the chosen process that works for this one.
  int threads() const { return threads_; }
  const Distribution& distribution() const { return distribution_; }
  const Configuration& configuration() const { return configuration_; }
  const std::optional<Choice>& choice() const { return choice_; }
  const Context& context() const { return *context_; }

 private:
  void take(const Configuration& configuration);
  void take_next();
  base::Status unwind();
  /// How the phase runs, as far as it is the same in all processes: those that differ in it are in different phases.
  std::uint32_t what() const;
  void leave_late(const char* when);

  std::shared_ptr<Context> context_;
  std::optional<Choice> choice_;
  Configuration configuration_;
  Distribution distribution_;
  int threads_ = 1;
  bool entered_ = false;
  bool pushed_ = false;
  int depth_ = 0;            ///< of this context's pushes when it was entered
  std::uint64_t begin_ = 0;  ///< the turn at which it was entered
};

}  // namespace steelyard::phases

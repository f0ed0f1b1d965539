// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include "phases/account.h"
#include "phases/context.h"

namespace steelyard::phases {

/// Limits of the configurations that an autotuned phase tries.
struct Bounds {
  int min_processes = 1;
  int max_processes = 0;  ///< 0: all
  int max_threads = 0;    ///< 0: no limit but the cores
  int min_threads = 0;    ///< 0: only the largest number of threads is tried
};
/// The configurations within `bounds`: each possible number of processes, from one process for the whole machine to one
/// for each core, with the largest number of threads and with parts of it.
std::vector<Configuration> configurations_between(const Context& context, const Bounds& bounds);

/// A part of the program in which some processes of the node work with more cores while the others sleep.
class Phase {
 public:
  /// At most `max_processes` processes for each resource of that type, with its cores shared among their threads.
  Phase(std::shared_ptr<Context> context, Resource resource, int max_processes);
  /// Autotuned: a contest of these configurations. The durations are the same in all processes, and so are the choices.
  Phase(std::shared_ptr<Context> context, const std::vector<Configuration>& configurations);
  /// If the program forgot to leave the phase, leaves it and logs a warning: the others sleep until all have left.
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
  /// Collective over the node: returns at all processes when the chosen ones have left.
  base::Status leave();
  base::Status gather(const void* mine, std::size_t bytes, View& all);
  /// With the distribution of the last gather of this phase; without one, of its last run.
  /// @param bytes of each member; members_of_scatter() of them
  base::Status scatter(const void* from, std::span<const std::size_t> bytes, View& mine);
  std::size_t members_of_scatter() const { return scattered_.distribution.members(context_->me()).size(); }

  // How the phase runs next, from its creation and from each leave() on; while it is entered, how it runs.
  bool chosen() const { return run_.distribution.chosen(context_->me()); }
  /// Threads of the chosen process that works for this one.
  int threads() const { return run_.threads; }
  const Distribution& distribution() const { return run_.distribution; }
  const Configuration& configuration() const { return run_.configuration; }
  /// False while an autotuned phase tries other configurations than its fastest.
  bool settled() const { return !contest() || contest()->settled(); }
  /// Typical duration of an autotuned phase with configuration(), s; 0 without a measurement.
  double typical() const { return contest() ? contest()->typical(contest()->next()) : 0; }
  const Context& context() const { return *context_; }
  const Account& account() const { return *account_; }

 private:
  struct Run {
    Configuration configuration;
    Distribution distribution;
    int threads = 1;
  };

  std::optional<decide::Contest>& contest() { return account_->contest; }
  const std::optional<decide::Contest>& contest() const { return account_->contest; }
  void take(const Configuration& configuration);
  base::Status unwind();
  /// Identifies how the phase runs, the same in all processes. Processes with different values are in different phases.
  std::uint32_t what(const Run& run) const;
  void leave_late(const char* when);

  std::shared_ptr<Context> context_;
  Account* account_ = nullptr;
  Run run_;        ///< the next; the present one while it is entered
  Run scattered_;  ///< that of the last gather; without one, the last
  bool gathered_ = false;
  bool entered_ = false;
  bool pushed_ = false;
  int depth_ = 0;            ///< of this context's pushes when it was entered
  std::uint64_t begin_ = 0;  ///< the turn at which it was entered
};

}  // namespace steelyard::phases

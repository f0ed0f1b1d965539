// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cores/rule.h"

namespace steelyard::cores {

/// The mapping of processes to sockets by SABO's search (section IV-B): depth first, heaviest process first. The first
/// processes get a socket each; each further process goes to a socket with free cores, and gets what is free there.
struct SocketMapping {
  std::vector<int> socket;   ///< by process
  std::vector<int> threads;  ///< by process
  int missing = 0;           ///< cores wanted and not given: the paper's `c`
  bool exact = true;         ///< false: the search was cut short, and this is the best mapping that it had found
};
/// @param wanted threads, by process, heaviest first
/// @param capacity cores of each socket
SocketMapping map_to_sockets(const std::vector<int>& wanted, const std::vector<int>& capacity);

/// SABO's own rule, to compare with (`--cores=sabo`): in each X-th step, or once at the X-th, each process gets its
/// share of the cores by its thread time in regions, unless a process would then take as long as the slowest takes now.
/// No move is measured or reverted. Beyond the paper, fixed thread counts and upper limits are kept.
/// Paper: Rocha Barbosa et al., SABO (IPDRM 2022), section IV.
class Sabo final : public Rule {
 public:
  /// @param every --balance-every, 0: in each step
  /// @param at --balance-at: once, at this step; 0: as `every` says
  Sabo(int every, int at);

  Verdict consider(const Window& window, const NodeShape& shape) override;
  int steps_wanted() const override;

 private:
  void gather(const Window& window);
  void decide(const NodeShape& shape, Verdict& verdict) const;

  const int every_, at_;
  long step_ = 0;                      ///< steps seen
  long next_;                          ///< the step of the next plan; 0: none
  bool moved_ = false;                 ///< by the last plan
  std::string declined_reason_;        ///< why the last plan was not carried out; "" if it was
  std::vector<ProcessLoad> gathered_;  ///< since the last plan or the last change of thread counts
  int gathered_steps_ = 0;
};

}  // namespace steelyard::cores

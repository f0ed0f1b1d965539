// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "phases/shared.h"

namespace steelyard::phases {

/// How the processes of a node wait for each other, asleep and in shared memory. A wait for a process that has ended
/// fails; a long wait is reported. The protocol is described at Gate in shared.h.
class Rendezvous {
 public:
  /// `lost` is called with a sentence if a process that has not arrived has ended; it does not return.
  using Lost = std::function<void(const std::string&)>;
  /// `members` are those of the node, `me` this process among them.
  Rendezvous(Shared& shared, std::span<Member> members, int me, Lost lost);

  enum class Wait {
    brief,  ///< short: spins, then yields, for up to 0.1 ms, before it sleeps
    asleep  ///< sleeps at once and leaves the core to others; a long wait is normal and not reported
  };
  /// Arrives at the next turn and returns. A failure if another process has refused the turn before.
  base::Status arrive(Call call);
  /// Arrives at the next turn and blocks until all processes have. If their calls differ, all get a failure.
  base::Status meet(Call call, Wait wait);
  /// meet() for the end of a phase that was entered at turn `begin`, by arrive() or meet(). A failure also if that turn
  /// was refused meanwhile.
  base::Status leave(Call call, Wait wait, std::uint64_t begin);

  /// The turn at which this process arrives next.
  std::uint64_t turn() const { return mine().turn.load(std::memory_order_relaxed); }
  /// When the last process arrived at a turn, ns. Valid until this process arrives at turn + 4.
  std::int64_t opened_at(std::uint64_t turn) const { return gate(turn).opened_at.load(); }
  /// This process calls MPI_Finalize and arrives at no further turn. Processes that wait for it get an error.
  void finalize();

 private:
  enum class Arrival { opens, watches, waits };
  struct Waiting {
    std::uint64_t turn;
    std::uint64_t entered;  ///< the turn whose missing processes are looked for
    Call call;
    bool reports;  ///< false: a long wait is normal
  };
  Member& mine() const { return members_[static_cast<std::size_t>(me_)]; }
  Gate& gate(std::uint64_t turn) const { return shared_.gates[turn % Shared::kGates]; }
  Arrival come(const Call* call);
  void wait_for_place(std::uint64_t turn, const Call* call);
  void wait_in(const Waiting& waiting, Arrival arrival, Wait wait);
  void refuse(std::uint64_t turn, std::uint64_t noted);
  bool is_refused(std::uint64_t turn) const;
  base::Status outcome(std::uint64_t turn);
  base::Status someone_finalized() const;
  base::Status reason(std::uint64_t turn) const;
  void sleep(const Waiting& waiting, Arrival arrival);
  bool complain(const Waiting& waiting, std::int64_t waited);
  static void leave_cpu(int cpu);
  void look_for_the_dead() const;

  Shared& shared_;
  std::span<Member> members_;
  int me_;
  bool crowded_;         ///< more processes than CPUs: a process that spins keeps another from arriving
  int asleep_next_ = 0;  ///< so many meetings follow without a yield, because yields did not help
  int asleep_after_ = 0;
  std::int64_t complain_at_ = 0;  ///< of the wait in progress, in ns
  Lost lost_;
};

/// Writes the identity of this process, by which others see whether it still runs.
void sign(Member& member);

}  // namespace steelyard::phases

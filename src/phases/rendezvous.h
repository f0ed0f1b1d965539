// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "phases/shared.h"

namespace steelyard::phases {

/// How the processes of a node wait for each other: in shared memory, asleep, never for a process that has ended, and
/// never in silence for one that does not come. The protocol stands at Gate in shared.h.
class Rendezvous {
 public:
  /// `lost` is called with a sentence if a process that has not arrived has ended; it does not return.
  using Lost = std::function<void(const std::string&)>;
  /// `members` are those of the node, `me` this process among them.
  Rendezvous(Shared& shared, std::span<Member> members, int me, Lost lost);

  enum class Wait {
    brief,  ///< soon over: looks again and again for some microseconds, letting others run, before it sleeps
    asleep  ///< sleeps at once and leaves the core to others; may take long, which is not reported
  };
  /// Comes to the next turn and goes on. A failure if the turn was refused before.
  base::Status arrive(Call call);
  /// Comes to the next turn and waits until all have. A failure, at all of them, if their calls differ.
  base::Status meet(Call call, Wait wait);
  /// The second turn of a phase, after arrive() or meet(): the same for a phase that was entered at turn `begin`. A
  /// failure, if that turn was refused meanwhile.
  base::Status leave(Call call, Wait wait, std::uint64_t begin);

  /// The turn that this process comes to next.
  std::uint64_t turn() const { return mine().turn.load(std::memory_order_relaxed); }
  /// When the last process came to a turn; to be asked before this process comes to turn + 4. In ns.
  std::int64_t opened_at(std::uint64_t turn) const { return gate(turn).opened_at.load(); }
  /// This process calls MPI_Finalize: it comes to no turn any more. Processes that wait for it get an error.
  void finalize();

 private:
  enum class Arrival { opens, watches, waits };
  struct Waiting {
    std::uint64_t turn;
    std::uint64_t entered;  ///< the turn whose missing processes are looked for
    Call call;
    bool reports;  ///< false: the wait may well be long
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
  int asleep_next_ = 0;  ///< so many meetings without a yield: it has not helped
  int asleep_after_ = 0;
  std::int64_t complain_at_ = 0;  ///< of the wait in progress, in ns
  Lost lost_;
};

/// Writes the identity of this process, so that others can see whether it lives.
void sign(Member& member);

}  // namespace steelyard::phases

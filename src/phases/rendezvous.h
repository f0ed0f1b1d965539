#pragma once
#include <functional>
#include <span>
#include <string>

#include "phases/shared.h"

namespace steelyard::phases {

/// How the processes of a node wait for each other: in shared memory, asleep, and never for one that is dead.
class Rendezvous {
 public:
  /// `lost` is called with a sentence when somebody who is waited for has ended; it does not return.
  using Lost = std::function<void(const std::string&)>;
  /// `members` are those of the node, `me` this process among them.
  Rendezvous(std::span<Member> members, int me, Lost lost);

  enum class Wait {
    brief,  ///< soon over: looks again and again for some microseconds, letting others run, before it sleeps
    asleep  ///< sleeps at once and leaves the core to others
  };
  /// Comes to the gate and goes on.
  void arrive(Gate& gate);
  /// Comes to the gate and waits until all have.
  void meet(Gate& gate, Wait wait);

 private:
  enum class Arrival { opens, watches, waits };
  Arrival come_to(Gate& gate);
  bool spin(const Gate& gate, std::uint32_t seen, std::int64_t start);
  bool yield(const Gate& gate, std::uint32_t seen, std::int64_t start);
  void sleep(Gate& gate, std::uint32_t seen, Arrival arrival);
  static void leave_cpu(int cpu);
  void look_for_the_dead() const;

  std::span<Member> members_;
  int me_;
  bool crowded_;         ///< more processes than CPUs: whoever spins keeps somebody else from arriving
  int asleep_next_ = 0;  ///< so many meetings without a yield: it has not helped
  int asleep_after_ = 0;
  Lost lost_;
};

/// Writes who this process is, so that others can see whether it lives.
void sign(Member& member);
/// False where the process has ended. True where that cannot be told (another PID namespace).
bool alive(const Member& member, std::uint64_t my_pid_namespace);

}  // namespace steelyard::phases

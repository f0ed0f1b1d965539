// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observe/sites.h"

namespace steelyard::session {

/// The outermost parallel regions of the primary thread. That thread writes what is not atomic, outside of its regions;
/// their threads read it. Other regions: other_regions.h.
struct Regions {
  observe::Sites sites;
  std::uint32_t code_generation = 0;  ///< in which the sites were met
  std::uint16_t since_call = 0;       ///< since the last blocking MPI call. In programs without calls it wraps around
  std::atomic<bool> foreign{false};   ///< another thread than the primary has begun some

  // The present region.
  observe::Site* present = nullptr;  ///< its site; null outside of regions
  std::uint64_t call = 0;            ///< where it is begun: the return address
  const void* body = nullptr;        ///< the function that its threads run; null if that is not known
  std::int64_t begin = 0;            ///< ns; of a region that inactive_region_begin() has begun
  bool measured = false;             ///< its threads are measured; otherwise, only its wall time
  int team = 1;                      ///< threads in it; between regions, in the last region
  int largest_team = 0;              ///< of all regions so far
  int asked_threads = 0;             ///< that Steelyard has asked for; 0: none
  int virtual_threads = 0;
  bool by_clause = false;
  bool unanalysed = false;          ///< it keeps its thread count until there is time to decode it (may_decode())
  std::atomic<bool> asked{false};   ///< a thread of it queried its ID or the team size
  std::atomic<bool> shares{false};  ///< its threads share out work: work_shared()

  std::uint64_t random = 1;  ///< chooses the executions of a short region that are measured

  // In all regions, and in those that keep the program's thread count. Without waits for accelerators.
  std::int64_t wall = 0;             ///< ns
  std::int64_t fixed_wall = 0;       ///< ns in those whose thread count the program fixed by a clause
  std::int64_t kept_wall = 0;        ///< ns in those that query thread IDs or repeat their work
  std::int64_t repeated_wall = 0;    ///< ns in those of them that repeat their work and query no thread IDs
  std::int64_t pool_wall = 0;        ///< ns in regions in which a task pool runs
  std::int64_t elastic_wall = 0;     ///< ns in regions that take any thread count
  std::int64_t unanalysed_wall = 0;  ///< ns in those that were not yet decoded
  int pool_threads = 0;              ///< that the pools can use
  struct Kept {
    std::uint64_t place;  ///< an address in its code
    bool repeats;         ///< it repeats its work; otherwise it queries thread IDs
    std::int64_t wall;    ///< ns
  };
  std::vector<Kept> kept;
  /// Why most of the time goes by in regions whose thread count must not change: the reason with most time.
  enum class Fixed { no, by_clause, by_queries, by_repeated_work };
  Fixed fixed() const {
    if ((fixed_wall + kept_wall) * 2 <= wall) return Fixed::no;
    if (fixed_wall > kept_wall) return Fixed::by_clause;
    return repeated_wall * 2 > kept_wall ? Fixed::by_repeated_work : Fixed::by_queries;
  }
  Fixed was_fixed = Fixed::no;  ///< fixed() as the thread limits know it

  /// The longest region with static loops that cannot have virtual threads.
  struct Dependent {
    const void* body = nullptr;  ///< null if there is none
    float own_ns = 0;            ///< of its executions until it was decoded
    std::string reason;          ///< see partition::why_not_independent()
    /// May be called before each execution: allocates only if there is something new to say.
    void see(const void* its_body, float ns, std::string_view its_reason) {
      if (its_body == body ? its_reason != reason : body == nullptr || ns >= own_ns)
        *this = {its_body, ns, std::string(its_reason)};
    }
  } dependent;
};

}  // namespace steelyard::session

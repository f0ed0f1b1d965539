// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace steelyard::observe {

/// What is known of one place in the program, by its return address: a parallel region, or a blocking MPI call.
struct Site {
  std::uint64_t address = 0;
  std::uint32_t executions = 0;
  /// What the threads of a region ask of their number, or of how many they are.
  enum class Queries : std::uint8_t {
    unknown,  ///< not examined yet
    watched,  ///< the next execution shows it
    proved,   ///< nothing, or what is right in a team of any size
    unproved  ///< something else: the region keeps its count
  };
  Queries queries = Queries::unknown;
  /// What the threads of a region do with its work. Known where its queries are.
  enum class Work : std::uint8_t {
    unknown,
    shared,   ///< in each execution so far, they shared some out: loops, sections, tasks
    repeated  ///< in an execution, they shared out none: what each did depends on how many they are
  };
  Work work = Work::unknown;
  /// Static loops of a region that are proved to be divided rightly among any number of threads.
  enum class Division : std::uint8_t {
    none,         ///< not seen so far
    seen,         ///< its threads may divide one
    independent,  ///< and can run one after the other in one thread
    whole         ///< and have a thread each: they wait for each other, or it is cheaper
  };
  Division division = Division::none;
  std::uint8_t judged = 0;          ///< executions with virtual threads, for a while
  std::uint8_t own_executions = 0;  ///< on the process's own cores, up to 2
  std::uint8_t undecoded_left = 0;  ///< executions before the next one that asks whether there is time to decode it
  std::uint32_t kept = 0;  ///< of a region that keeps its count: 1 + its place in a list of those; 0: it is in none
  std::int32_t pool_threads = 0;  ///< that the task pool can use that runs in the region; 0: none runs there
  float mean_ns = 0;              ///< recent length of the region, or of the wait
  float own_ns = 0;               ///< of the region on the process's own cores
  float divided_ns = 0;           ///< the same with virtual threads, if they had those cores alone
  /// Of a region's recent executions whose threads were measured: the means, which stand for the other executions.
  float capacity_ns = 0, useful_ns = 0, imbalance_ns = 0;
  float cpu_ns = 0;                  ///< of a wait for an accelerator: CPU time of the thread
  std::uint8_t unmeasured_left = 0;  ///< executions before the next one whose threads are measured
  float inactive_ns = 0;             ///< in executions with one thread since the last one whose threads were measured
  void add(std::int64_t ns) {
    blend(mean_ns, ns);
    ++executions;
  }
  /// An execution on the process's own cores. The first meets cold caches: it counts only until there is a second.
  void add_own(std::int64_t ns) {
    if (own_executions == 1) own_ns = 0;
    blend(own_ns, ns);
    if (own_executions < 2) ++own_executions;
  }
  static void blend(float& mean, std::int64_t ns) {
    const float length = static_cast<float>(ns);
    mean = mean == 0 ? length : mean + (length - mean) / 8;
  }
};

/// Sites by address: open addressing, about 5 ns a look-up. Never shrinks; one thread.
class Sites {
 public:
  Sites() : table_(256) {}
  Site& at(std::uint64_t address) {
    std::size_t mask = table_.size() - 1;
    for (std::size_t i = hash(address) & mask;; i = (i + 1) & mask) {
      if (table_[i].address == address) return table_[i];
      if (table_[i].address == 0) {
        if (++used_ * 2 > table_.size()) {
          grow();
          return at(address);
        }
        table_[i].address = address;
        return table_[i];
      }
    }
  }

 private:
  static std::size_t hash(std::uint64_t address) { return static_cast<std::size_t>(base::spread(address) >> 20); }
  void grow() {
    std::vector<Site> old(table_.size() * 2);
    old.swap(table_);
    used_ = 0;
    for (const Site& site : old) {
      if (site.address != 0) at(site.address) = site;
    }
  }

  std::vector<Site> table_;
  std::size_t used_ = 0;
};

}  // namespace steelyard::observe

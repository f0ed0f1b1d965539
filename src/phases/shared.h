#pragma once
#include <atomic>
#include <cstdint>

#include "phases/cpu_set.h"

// What the processes of a node see of each other, in the memory that they share.
namespace steelyard::phases {

/// A place where all processes of the node meet, again and again.
struct alignas(64) Gate {
  std::atomic<std::uint32_t> arrived;
  alignas(64) std::atomic<std::uint32_t> opened;  ///< times; those who wait sleep on it
  std::atomic<std::uint32_t> sleepers;
  std::atomic<std::int32_t> opened_on;  ///< CPU
  std::atomic<std::int64_t> opened_at;  ///< ns on the node's monotonic clock
};

/// One process. Written by its owner: what stands above `meetings` before the others attach, then constant.
struct alignas(64) Member {
  std::int32_t pid;
  std::int32_t rank;  ///< in the communicator that the context was made from
  std::uint64_t started;
  std::uint64_t pid_namespace;
  CpuSet home;                                      ///< its mask when the context was made
  alignas(64) std::atomic<std::uint32_t> meetings;  ///< gates that it has come to
  std::atomic<std::uint32_t> bindings;              ///< odd while `bound_to` is being written
  CpuSet bound_to;
  // The exchange in progress.
  alignas(64) std::atomic<std::uint64_t> bytes;  ///< offered to its leader, or wanted for its copy
  std::atomic<std::uint64_t> part_bytes;         ///< given to it by its leader
  std::atomic<std::uint64_t> part_offset;
  std::atomic<std::uint32_t> part_area;
};

/// The machine as the leader sees it, but for its PUs.
struct Outline {
  std::uint64_t pus = 0;
  bool emulated = false, has_packages = false, has_numa = false, has_l3 = false;
};

/// The head of the shared memory; the members follow, then the PUs.
struct alignas(64) Shared {
  static constexpr int kAreas = 2;
  Gate barrier;                                             ///< of all, where all wait
  Gate begin;                                               ///< of a phase: the chosen ones wait
  Gate end;                                                 ///< of a phase: all wait
  alignas(64) std::atomic<std::uint64_t> capacity[kAreas];  ///< bytes that each exchange area has now
  Outline outline;
};

/// A set that its owner writes and others read at any time.
void publish(Member& member, const CpuSet& set);
CpuSet published(const Member& member);

}  // namespace steelyard::phases

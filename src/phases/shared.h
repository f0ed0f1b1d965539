// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

#include "decide/settings.h"
#include "node/cpu_set.h"
#include "node/life.h"
#include "node/topology.h"
#include "phases/shared_file.h"

// What the processes of a node see of each other, in the memory that they share.
namespace steelyard::phases {

using node::CpuSet;

/// A collective call: all processes of a context make the same ones in the same order.
struct Call {
  enum class Kind : std::uint8_t { barrier = 1, enter, leave, gather, scatter, exchange, finalize };
  Kind kind = Kind::barrier;
  std::uint32_t what = 0;  ///< what else must be the same: how the phase runs
  bool operator==(const Call&) const = default;
};

/// A turn is one collective call of all processes of the node. Turns are counted from kFirst; turn t uses gate
/// t % kGates of the context.
///
///   1. Each process arrives at each turn exactly once, in order, also at a turn that is refused.
///   2. A process arrives at turn t only if turn t - 2 is complete: all have arrived at it. So a gate serves one turn
///      at a time, and the notes of a turn can be read until turn t + 2 is complete.
///   3. The first process that arrives at a turn notes its call. A process that arrives with another call refuses the
///      turn before it counts itself as arrived. So a turn that is complete and not refused has one call in all
///      processes.
///   4. A process that refuses turn t also refuses turn t + 1: some processes have returned from `enter` already, and
///      wait in `leave` for turn t + 1. A process that was refused turn t arrives at turn t + 1 without waiting. So all
///      processes continue with turn t + 2.
///   5. `word` changes whenever a turn is complete or refused, and wakes the processes that sleep on it.
struct alignas(64) Gate {
  static constexpr std::uint64_t kFirst = 4;  ///< Encoding: kGates or more, so that turn - 2 is none before the first
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint64_t> call;                 ///< of the first process to arrive, with its turn: rendezvous.cpp
  alignas(64) std::atomic<std::uint32_t> word;     ///< 2 * complete turns; + 1: the turn in progress is refused
  std::atomic<std::uint32_t> sleepers;             ///< processes that sleep on `word`
  std::atomic<std::int32_t> opened_on;             ///< CPU
  std::atomic<std::int64_t> opened_at;             ///< ns on the node's monotonic clock
  alignas(64) std::atomic<std::uint64_t> refused;  ///< the call for which a turn was refused, with its turn
};

/// One process; only this process writes it. Members above `turn` are constant once other processes attach.
struct alignas(64) Member {
  node::Life life;
  std::int32_t rank;                            ///< in the communicator that the context was made from
  std::int32_t world;                           ///< in MPI_COMM_WORLD, for messages
  node::SharedCpuSet home;                      ///< its affinity mask when the context was made
  alignas(64) std::atomic<std::uint64_t> turn;  ///< at which it arrives next
  std::atomic<std::uint32_t> bindings;          ///< odd while `bound_to` is being written
  node::SharedCpuSet bound_to;
  // The exchange in progress.
  alignas(64) std::atomic<std::uint64_t> bytes;  ///< offered to its leader, or wanted for its copy
  std::atomic<std::uint64_t> part_bytes;         ///< given to it by its leader
  std::atomic<std::uint64_t> part_offset;
  std::atomic<std::uint32_t> part_area;
};

/// The head of the shared memory; the members follow, then the PUs.
struct alignas(64) Shared {
  static constexpr int kGates = 4;  ///< Size: a ring of more than two, by rule 2
  Gate gates[kGates];
  alignas(64) std::atomic<std::int32_t> finalized;  ///< a member that has called MPI_Finalize, from 1; 0: none has
  alignas(64) std::atomic<std::uint64_t> capacity[SharedFile::kAreas];  ///< bytes that each exchange area has now
  node::TopologyOutline outline;                                        ///< of the machine as the leader sees it
  decide::Settings decision;                                            ///< of autotuned phases: the leader's
};

/// A set that its owner writes and others read at any time.
void publish(Member& member, const CpuSet& set);
CpuSet published(const Member& member);

}  // namespace steelyard::phases

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "port/agreement.h"
#include "port/node_split.h"

namespace steelyard::tasks {

/// What a pool needs from MPI: the program's own MPI, so that nothing here depends on which MPI it is. Between nodes it
/// carries messages; inside a node it is used at creation only. Calls for messages come from the thread that created
/// the pool or from its MessageThread, one at a time; others from the former alone, unless a call says otherwise.
///
/// Its messages are not port::Messages. The program's MPI is reached through a public table of C functions
/// (steelyard/tasks.h), which has a fixed number of send slots and one context: a pool needs to know when the slots are
/// full. And a pool receives messages of any length from any rank, while a tree starts receives of known length.
class Transport : public port::NodeSplit, public port::Agreement {
 public:
  /// For each rank the index of its node; nodes count from 0 in the order of their lowest rank. Empty if each node has
  /// ranks_per_node() consecutive ranks (the last node may have fewer): then no rank needs a table of all ranks.
  virtual std::vector<std::int32_t> nodes() const = 0;
  /// Ranks of node 0.
  virtual int ranks_per_node() const = 0;
  /// Bytes of shared memory to which the tasks of one thread may grow.
  virtual std::uint64_t reach() const { return std::uint64_t{1} << 34; }

  /// Collective over the node: copies the bytes of its first rank to its other ranks.
  virtual void broadcast_in_node(void* bytes, std::size_t size) = 0;

  /// Starts a send. The bytes must stay in place until sent() has returned true.
  /// @return a slot, or -1 if all slots are in use
  virtual int send(int to, const void* bytes, std::size_t size) = 0;
  /// True once, when the slot is free again.
  virtual bool sent(int slot) = 0;
  /// True if a message has arrived. The next call must be receive() of this message.
  virtual bool arrived(int& from, std::size_t& bytes) = 0;
  virtual void receive(void* bytes, std::size_t size) = 0;
  /// Waits for `ns` nanoseconds; 0: for an event that is expected at once. The pool waits through this function only,
  /// and reads the clock through now() only, so that a simulator can supply both. Any thread.
  virtual void pause(std::int64_t ns) = 0;
  virtual std::int64_t now() const = 0;  ///< ns. Any thread
  /// The rank in MPI_COMM_WORLD of a rank of this transport, for messages.
  virtual int world_rank(int rank) const { return rank; }
  /// The calling thread starts to wait for other ranks (true), or has stopped (false). Any thread.
  virtual void waits(bool) {}
  /// True while messages can still be sent: MPI_Finalize has not been called.
  virtual bool open() const = 0;
  /// Tells that messages may still be in transit when the transport is destroyed.
  virtual void abandon() = 0;
};

}  // namespace steelyard::tasks

#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steelyard::tasks {

/// What is asked of MPI: the user's own, so that nothing here depends on which MPI it is. Between nodes, messages; inside a
/// node nothing after the start. All calls come from the thread that made the pool.
class Mail {
 public:
  virtual ~Mail() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int node_rank() const = 0;
  virtual int node_size() const = 0;
  /// By rank, the index of its node, from 0 by lowest rank. Empty where nodes have equally many consecutive ranks each (the
  /// last may have fewer), so that nobody needs a table of all ranks.
  virtual std::vector<std::int32_t> nodes() const = 0;
  /// Of node 0.
  virtual int ranks_a_node() const = 0;
  /// Bytes of shared memory that a thread's tasks may grow to.
  virtual std::uint64_t reach() const { return std::uint64_t{1} << 34; }

  /// Collective over the node: the bytes of its first rank, at everybody.
  virtual void broadcast_in_node(void* bytes, std::size_t size) = 0;
  /// Collective over all: true where it is true everywhere.
  virtual bool all_agree(bool mine) = 0;
  /// Collective over all: at everybody the bytes of rank 0.
  virtual void broadcast(void* bytes, std::size_t size) = 0;

  /// Starts to send; the bytes must stay until sent(). Returns a slot, or -1 where all are in use.
  virtual int send(int to, const void* bytes, std::size_t size) = 0;
  /// True once, when the slot is free again.
  virtual bool sent(int slot) = 0;
  /// True where a message has come: receive() it next.
  virtual bool arrived(int& from, std::size_t& bytes) = 0;
  virtual void receive(void* bytes, std::size_t size) = 0;
  /// Every wait of the library is one of these, and every look at the clock one of those. 0: for what comes at once.
  virtual void pause(std::int64_t ns) = 0;
  virtual std::int64_t now() const = 0;
  /// The rank in MPI_COMM_WORLD of a rank, for messages.
  virtual int world_rank(int rank) const { return rank; }
  /// From any thread: it waits for others from now on, or no longer.
  virtual void waits(bool) {}
  /// Messages can still be sent.
  virtual bool open() const = 0;
  /// Messages may be under way when this is destroyed.
  virtual void abandon() = 0;
};

/// Where ranks are: which node, and which of its processes.
class Places {
 public:
  Places() = default;
  /// From Mail::nodes() and ranks_a_node(), for `ranks` ranks.
  Places(int ranks, int ranks_a_node, std::vector<std::int32_t> nodes);
  int nodes() const { return node_count_; }
  int node(int rank) const { return table_.empty() ? rank / ranks_a_node_ : table_[static_cast<std::size_t>(rank)]; }
  int node_size(int node) const;
  int rank(int node, int local) const;
  int local(int rank) const;

 private:
  int ranks_ = 1, ranks_a_node_ = 1, node_count_ = 1;
  std::vector<std::int32_t> table_;                 // only where the formula does not hold
  std::vector<std::vector<std::int32_t>> members_;  // likewise
};

}  // namespace steelyard::tasks

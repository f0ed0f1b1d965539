// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace steelyard::node {

/// The few things that must be asked of MPI: at start and at the end, and progress() at any time. One implementation
/// per MPI flavour (src/intercept), one for a process without MPI. Every call marked collective is called by all ranks
/// in the same order, from the thread that called MPI_Init.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int rank() const = 0;       ///< in MPI_COMM_WORLD
  virtual int size() const = 0;       ///< of MPI_COMM_WORLD
  virtual int node_rank() const = 0;  ///< among the processes of this node
  virtual int node_size() const = 0;
  virtual int node_index() const = 0;  ///< of this node among the nodes, by lowest rank
  virtual int node_count() const = 0;
  virtual std::string library() const = 0;  ///< "Open MPI 4.1.4", for the header line and the record
  /// Collective over the node: copies the bytes of node rank 0 to the others. All pass a buffer of the same size.
  virtual void broadcast_in_node(void* bytes, std::size_t size) = 0;
  /// Collective over the node.
  virtual void barrier_in_node() = 0;
  /// Collective over the world: at rank 0 one string per rank, elsewhere empty.
  virtual std::vector<std::string> gather(const std::string& bytes) = 0;
  /// Collective over the world: the bits that all ranks have.
  virtual std::uint32_t common_bits(std::uint32_t mine) = 0;
  /// Collective over the world: true if `mine` is true on all ranks.
  bool all_agree(bool mine) { return common_bits(mine ? 1 : 0) != 0; }
  /// Collective over the world: true if `mine` is the same on all ranks.
  bool all_equal(std::uint32_t mine) {
    const std::uint32_t ones = common_bits(mine), zeros = common_bits(~mine);
    return ones == ~zeros;
  }
  /// Lets the MPI library advance its messages while this process sleeps elsewhere. Cheap, any number of times.
  virtual void progress() = 0;
};

}  // namespace steelyard::node

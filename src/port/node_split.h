// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::port {

/// A group of ranks, and how it is split by node. No call blocks.
class NodeSplit {
 public:
  virtual ~NodeSplit() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int node_rank() const = 0;  ///< among the ranks of this node, in the order of ranks
  virtual int node_size() const = 0;  ///< ranks of this node
};

}  // namespace steelyard::port

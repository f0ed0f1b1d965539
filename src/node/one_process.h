// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "node/bootstrap.h"

namespace steelyard::node {

/// A process without MPI, alone on its node.
class OneProcess final : public Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int node_rank() const override { return 0; }
  int node_size() const override { return 1; }
  int node_index() const override { return 0; }
  int node_count() const override { return 1; }
  std::string library() const override { return "no MPI"; }
  void broadcast_in_node(void*, std::size_t) override {}
  void barrier_in_node() override {}
  std::vector<std::string> gather(const std::string& bytes) override { return {bytes}; }
  std::uint32_t common_bits(std::uint32_t mine) override { return mine; }
  void progress() override {}
};

}  // namespace steelyard::node

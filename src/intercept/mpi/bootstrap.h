// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "intercept/mpi/library.h"
#include "node/bootstrap.h"

namespace steelyard::intercept {

/// What the node asks of MPI, over communicators of its own: the program's messages are never met.
class MpiBootstrap final : public node::Bootstrap {
 public:
  /// Collective over MPI_COMM_WORLD.
  MpiBootstrap();
  ~MpiBootstrap() override;
  MpiBootstrap(const MpiBootstrap&) = delete;
  MpiBootstrap& operator=(const MpiBootstrap&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_rank() const override { return node_rank_; }
  int node_size() const override { return node_size_; }
  int node_index() const override { return node_index_; }
  int node_count() const override { return node_count_; }
  std::string library() const override;
  void broadcast_in_node(void* bytes, std::size_t size) override;
  void barrier_in_node() override;
  std::vector<std::string> gather(const std::string& bytes) override;
  std::uint32_t common_bits(std::uint32_t mine) override;
  void progress() override;

 private:
  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm node_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  int node_rank_ = 0, node_size_ = 1;
  int node_index_ = 0, node_count_ = 1;
};

/// "Open MPI 4.1.4" or "MPICH 4.0.2" from what MPI_Get_library_version says; its first line where it says it in another
/// way.
std::string library_name(std::string_view version);

}  // namespace steelyard::intercept

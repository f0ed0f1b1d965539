// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/clock.h"
#include "base/complaint.h"
#include "base/log.h"
#include "base/options.h"
#include "node/election.h"
#include "node/identity.h"
#define STEELYARD_MPI_FUNCTION(name) PMPI_##name
#include "steelyard/detail/nodes_mpi.h"
#include "wait/sleep.h"

namespace steelyard::intercept {

namespace {

constexpr int kGather = 1, kNever = 2;  // Encoding: tags

// A blocking call may poll, and with more ranks than cores each poll takes the core from the critical rank for a
// whole time slice: at start and end that would be seconds.
void complete(MPI_Request request) {
  for (int done = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;) wait::yield();
}

/// Completes the first request that all ranks take part in. One rank of each node says so if it takes long: a rank that
/// was started without Steelyard never takes part, and the program would hang without a message.
void meet_all_ranks(MPI_Request request) {
  const std::int64_t begin = base::now_ns();
  std::int64_t complain_at = base::kFirstComplaint;
  node::Election on_node("waiting in MPI_Init");
  for (int done = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0; wait::yield()) {
    if (base::now_ns() - begin < complain_at) continue;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    base::set_log_rank(rank);
    if (on_node.elected()) {
      base::warn(
          fmt::format("waiting in MPI_Init for other ranks, for {} s so far: one is late, or was started without "
                      "`steelyard run`, and never answers. Write `steelyard run` before each program of the job: "
                      "`mpirun -n 4 steelyard run ./a : -n 4 steelyard run ./b`",
                      complain_at / 1'000'000'000));
    }
    complain_at = base::next_complaint(complain_at);
  }
}

/// True if all ranks surely run on one node. Collective.
bool is_one_node(MPI_Comm world) {
  std::int32_t range[2] = {node::identity(), -node::identity()};
  MPI_Request request;
  PMPI_Iallreduce(MPI_IN_PLACE, range, 2, MPI_INT32_T, MPI_MIN, world, &request);
  complete(request);
  return range[0] == -range[1];
}

}  // namespace

MpiBootstrap::MpiBootstrap() {
  MPI_Request request;
  PMPI_Comm_idup(MPI_COMM_WORLD, &world_, &request);
  meet_all_ranks(request);
  PMPI_Comm_set_errhandler(world_, MPI_ERRORS_ARE_FATAL);  // the program's own handler is not to be called for us
  PMPI_Comm_rank(world_, &rank_);
  PMPI_Comm_size(world_, &size_);
  if (base::options().ranks_per_node == 0 && is_one_node(world_)) {
    node_ = world_;
    node_rank_ = rank_;
    node_size_ = size_;
  } else {
    const auto nodes = steelyard_mpi_find_nodes(world_, static_cast<int>(base::options().ranks_per_node));
    node_ = nodes.here;
    node_rank_ = nodes.node_rank;
    node_size_ = nodes.node_size;
    node_index_ = nodes.node;
    node_count_ = nodes.nodes;
  }
}

MpiBootstrap::~MpiBootstrap() {
  if (node_ != world_) PMPI_Comm_free(&node_);
  PMPI_Comm_free(&world_);
}

std::string MpiBootstrap::library() const {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  PMPI_Get_library_version(version, &length);
  return library_name(version);
}

void MpiBootstrap::broadcast_in_node(void* bytes, std::size_t size) {
  constexpr std::size_t kMost = 1 << 30;  // Size: a count is an int
  char* from = static_cast<char*>(bytes);
  for (std::size_t left = size; left > 0;) {
    const std::size_t part = std::min(left, kMost);
    MPI_Request request;
    PMPI_Ibcast(from, static_cast<int>(part), MPI_BYTE, 0, node_, &request);
    complete(request);
    from += part;
    left -= part;
  }
}

void MpiBootstrap::barrier_in_node() {
  MPI_Request request;
  PMPI_Ibarrier(node_, &request);
  complete(request);
}

// One message a rank rather than MPI_Gatherv, whose displacements are ints: thousands of ranks may send gigabytes.
std::vector<std::string> MpiBootstrap::gather(const std::string& bytes) {
  if (rank_ != 0) {
    MPI_Request request;
    PMPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, kGather, world_, &request);
    complete(request);
    return {};
  }
  std::vector<std::string> all(static_cast<std::size_t>(size_));
  all[0] = bytes;
  for (int source = 1; source < size_; ++source) {
    MPI_Status status;
    int count = 0;
    for (int here = 0; PMPI_Iprobe(source, kGather, world_, &here, &status), here == 0;) wait::yield();
    PMPI_Get_count(&status, MPI_BYTE, &count);
    std::string& part = all[static_cast<std::size_t>(source)];
    part.resize(static_cast<std::size_t>(count));
    MPI_Request request;
    PMPI_Irecv(part.data(), count, MPI_BYTE, source, kGather, world_, &request);
    complete(request);
  }
  return all;
}

std::uint32_t MpiBootstrap::common_bits(std::uint32_t mine) {
  MPI_Request request;
  PMPI_Iallreduce(MPI_IN_PLACE, &mine, 1, MPI_UINT32_T, MPI_BAND, world_, &request);
  complete(request);
  return mine;
}

// Both libraries advance everything that is under way when they look for a message.
void MpiBootstrap::progress() {
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, kNever, world_, &found, MPI_STATUS_IGNORE);
}

std::string library_name(std::string_view version) {
  for (std::string_view name : {"Open MPI", "MPICH"}) {
    if (!version.starts_with(name)) continue;
    const auto begin = std::find_if(version.begin(), version.end(), [](unsigned char c) { return std::isdigit(c); });
    if (begin == version.end()) break;
    const auto end = std::find_if(begin, version.end(), [](unsigned char c) { return c == ',' || std::isspace(c); });
    return std::string(name) + " " + std::string(begin, end);
  }
  return std::string(version.substr(0, version.find('\n')));
}

}  // namespace steelyard::intercept

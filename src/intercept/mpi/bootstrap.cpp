// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/bootstrap.h"

#include <sched.h>

#include <algorithm>
#include <cctype>

#include "base/options.h"
#include "node/identity.h"

namespace steelyard::intercept {

namespace {

constexpr int kGather = 1;  // tags
constexpr int kNever = 2;

// A blocking call may poll, and with more ranks than cores each poll takes the core from those that are waited for, for
// a whole time slice: at start and end that would be seconds.
void complete(MPI_Request request) {
  for (int done = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;) sched_yield();
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
  complete(request);
  PMPI_Comm_set_errhandler(world_, MPI_ERRORS_ARE_FATAL);  // the program's own handler is not to be called for us
  PMPI_Comm_rank(world_, &rank_);
  PMPI_Comm_size(world_, &size_);
  if (base::options().ranks_per_node == 0 && is_one_node(world_)) {
    node_ = world_;
    node_rank_ = rank_;
    node_size_ = size_;
  } else {
    find_nodes();
  }
}

void MpiBootstrap::find_nodes() {
  PMPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_);
  PMPI_Comm_rank(node_, &node_rank_);
  if (const long ranks = base::options().ranks_per_node; ranks > 0) {
    MPI_Comm machine = node_;
    PMPI_Comm_split(machine, static_cast<int>(node_rank_ / ranks), rank_, &node_);
    PMPI_Comm_free(&machine);
    PMPI_Comm_rank(node_, &node_rank_);
  }
  PMPI_Comm_size(node_, &node_size_);

  // The lowest rank of each node speaks for it; among themselves they are in the order of the nodes.
  MPI_Comm leaders;
  PMPI_Comm_split(world_, node_rank_ == 0 ? 0 : MPI_UNDEFINED, rank_, &leaders);
  int place[2] = {0, 1};
  if (leaders != MPI_COMM_NULL) {
    PMPI_Comm_rank(leaders, &place[0]);
    PMPI_Comm_size(leaders, &place[1]);
    PMPI_Comm_free(&leaders);
  }
  PMPI_Bcast(place, 2, MPI_INT, 0, node_);
  node_index_ = place[0];
  node_count_ = place[1];
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
  constexpr std::size_t kMost = 1 << 30;  // a count is an int
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
    for (int here = 0; PMPI_Iprobe(source, kGather, world_, &here, &status), here == 0;) sched_yield();
    PMPI_Get_count(&status, MPI_BYTE, &count);
    std::string& part = all[static_cast<std::size_t>(source)];
    part.resize(static_cast<std::size_t>(count));
    MPI_Request request;
    PMPI_Irecv(part.data(), count, MPI_BYTE, source, kGather, world_, &request);
    complete(request);
  }
  return all;
}

bool MpiBootstrap::all_agree(bool mine) {
  int all = mine ? 1 : 0;
  MPI_Request request;
  PMPI_Iallreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, world_, &request);
  complete(request);
  return all != 0;
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

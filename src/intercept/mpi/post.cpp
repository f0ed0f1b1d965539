// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/post.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "intercept/mpi/tree.h"

namespace steelyard::intercept {

Post::Post(MPI_Comm world) {
  PMPI_Comm_dup(world, &comm_);
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
  int size = 0, found = 0;
  PMPI_Comm_size(comm_, &size);
  sent_.assign(static_cast<std::size_t>(size), 0);
  void* highest = nullptr;
  PMPI_Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&highest), &found);
  if (found != 0) highest_tag_ = *static_cast<int*>(highest);
  compare_clocks(size);
}

// A clock's value is here only after it was read there, so that no round finds an offset that is too small. The first
// round brings all processes together; the others are as fast as messages are.
void Post::compare_clocks(int size) {
  constexpr int kRounds = 4;
  const auto processes = static_cast<std::size_t>(size);
  std::vector<std::int64_t> ahead(processes, std::numeric_limits<std::int64_t>::max()), theirs(processes);
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t mine = base::now_ns();
    PMPI_Allgather(&mine, 1, MPI_INT64_T, theirs.data(), 1, MPI_INT64_T, comm_);
    const std::int64_t now = base::now_ns();
    std::ranges::transform(theirs, ahead, ahead.begin(),
                           [&](std::int64_t their, std::int64_t least) { return std::min(least, now - their); });
  }
  const std::int64_t now = base::now_ns();
  for (const std::int64_t ns : ahead) clocks_.emplace_back(ns, now);
}

Post::~Post() {
  int sent = 0;
  PMPI_Reduce_scatter_block(sent_.data(), &sent, 1, MPI_INT, MPI_SUM, comm_);
  while (heard_ < sent) hear_report();
  PMPI_Comm_free(&comm_);
}

bool Post::is_too_high(std::int64_t number) const { return kKinds * (number + 1) > highest_tag_; }

void Post::send(const Report& report, int world_rank, MPI_Request& request) {
  ++sent_[static_cast<std::size_t>(world_rank)];
  PMPI_Isend(&report, sizeof report, MPI_BYTE, world_rank, kReport, comm_, &request);
}

void Post::hear_reports() {
  for (;;) {
    int found = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, kReport, comm_, &found, MPI_STATUS_IGNORE);
    if (found == 0) return;
    hear_report();
  }
}

void Post::hear_report() {
  Report report;
  PMPI_Recv(&report, sizeof report, MPI_BYTE, MPI_ANY_SOURCE, kReport, comm_, MPI_STATUS_IGNORE);
  ++heard_;
  const auto tree = trees_.find(report.tree);
  if (tree != trees_.end()) tree->second->told(report);
}

}  // namespace steelyard::intercept

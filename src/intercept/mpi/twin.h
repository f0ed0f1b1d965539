// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

#include "intercept/mpi/fake_runtime.h"
#include "intercept/mpi/ranks_in_tests.h"

// Each scenario is run twice, through the wrappers and straight through the library, and must come out the same.
namespace steelyard::intercept {

// clang-format off
#define STEELYARD_TWINS(X)                                                                                           \
  X(Barrier)                                                                                                         \
  X(Bcast)                                                                                                           \
  X(Reduce)                                                                                                          \
  X(Allreduce)                                                                                                       \
  X(Scan) X(Exscan) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv)  \
      X(Alltoallw) X(Reduce_scatter) X(Reduce_scatter_block) X(Send) X(Rsend) X(Ssend) X(Recv) X(Sendrecv)           \
          X(Sendrecv_replace) X(Probe) X(Mprobe) X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Comm_dup) X(Comm_split) \
              X(Comm_free) X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall) X(Neighbor_alltoallv)   \
                  X(Neighbor_alltoallw) X(Mrecv) X(File_open) X(File_close) X(File_read_all) X(File_write_all)       \
                      X(File_read_at_all) X(File_write_at_all)
// clang-format on

struct Api {
#define X(name) decltype(&MPI_##name) name;
  STEELYARD_TWINS(X)
#undef X
};

#define X(name) MPI_##name,
inline const Api kWrapped = {STEELYARD_TWINS(X)};
#undef X
#define X(name) PMPI_##name,
inline const Api kNative = {STEELYARD_TWINS(X)};
#undef X

/// Everything that a program could see of a scenario, as bytes.
class Outcome {
 public:
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    const auto* from = reinterpret_cast<const unsigned char*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(T));
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    for (const T& value : values) add(value);
  }
  /// Codes differ in what else they carry; their class is what the standard promises.
  void add_error(int code) {
    int error_class = 0;
    PMPI_Error_class(code, &error_class);
    add(error_class);
  }
  void add_status(MPI_Status& status, MPI_Datatype type) {
    int count = 0, cancelled = 0;
    PMPI_Get_count(&status, type, &count);
    PMPI_Test_cancelled(&status, &cancelled);
    add(status.MPI_SOURCE);
    add(status.MPI_TAG);
    add(count);
    add(cancelled);
  }
  const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
};

template <typename Scenario>
void expect_twins(Scenario scenario) {
  const Outcome native = scenario(kNative);
  const Outcome wrapped = scenario(kWrapped);
  EXPECT_EQ(wrapped.bytes(), native.bytes());
}

/// A barrier that leaves the cores to those who are late: there are more ranks than cores in most tests.
inline void settle() {
  MPI_Request request;
  PMPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; usleep(20)) PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/// The same numbers at all ranks.
using Random = std::mt19937;
inline int draw(Random& random, int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }

}  // namespace steelyard::intercept

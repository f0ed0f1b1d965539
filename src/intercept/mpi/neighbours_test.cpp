// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <string>

#include "intercept/mpi/twin.h"

namespace steelyard::intercept {
namespace {

using session::fake::notes;

TEST(OtherWaits, AmongNeighboursComeOutAsTheLibrarysOwn) {
  const int size = size_of(MPI_COMM_WORLD), around = 1;
  MPI_Comm ring;
  PMPI_Cart_create(MPI_COMM_WORLD, 1, &size, &around, 0, &ring);
  const long calls = notes().calls;
  const int rank = rank_of(ring);
  expect_twins([&](const Api& api) {
    Outcome outcome;
    const std::vector<int> from = {rank, rank + 100}, counts = {1, 1}, places = {1, 0};
    const std::vector<MPI_Aint> bytes = {4, 0};
    const std::vector<MPI_Datatype> types = {MPI_INT, MPI_INT};
    std::vector<int> to(2, -1);
    outcome.add_error(api.Neighbor_allgather(from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, ring));
    outcome.add(to);
    outcome.add_error(
        api.Neighbor_allgatherv(from.data(), 1, MPI_INT, to.data(), counts.data(), places.data(), MPI_INT, ring));
    outcome.add(to);
    outcome.add_error(api.Neighbor_alltoall(from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, ring));
    outcome.add(to);
    outcome.add_error(api.Neighbor_alltoallv(from.data(), counts.data(), places.data(), MPI_INT, to.data(),
                                             counts.data(), places.data(), MPI_INT, ring));
    outcome.add(to);
    outcome.add_error(api.Neighbor_alltoallw(from.data(), counts.data(), bytes.data(), types.data(), to.data(),
                                             counts.data(), bytes.data(), types.data(), ring));
    outcome.add(to);
    return outcome;
  });
  EXPECT_EQ(notes().calls - calls, 5);
  PMPI_Comm_free(&ring);
}

TEST(OtherWaits, ForAMatchedMessage) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const long calls = notes().calls;
  expect_twins([&](const Api& api) {
    Outcome outcome;
    std::vector<int> data(50'000, rank), got(data.size(), -1);
    const int count = static_cast<int>(data.size());
    MPI_Request request;
    PMPI_Isend(data.data(), count, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &request);
    MPI_Message message;
    MPI_Status status;
    PMPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    outcome.add_error(api.Mrecv(got.data(), count, MPI_INT, &message, &status));
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    outcome.add_status(status, MPI_INT);
    outcome.add(got);
    settle();
    return outcome;
  });
  EXPECT_EQ(notes().calls - calls, 1);
}

#if MPI_VERSION >= 4
TEST(OtherWaits, WithLargeCountsAreTheOrdinaryOnesAndMayBeMixedWithThem) {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const MPI_Comm world = MPI_COMM_WORLD;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  const std::vector<int> mine(static_cast<std::size_t>(size), rank + 1);
  std::vector<int> got(static_cast<std::size_t>(size), -1);
  const long calls = notes().calls;

  // One rank has few enough to say it in the ordinary way.
  std::vector<int> data(300, rank == 0 ? 7 : -1);
  EXPECT_EQ(
      rank == 1 ? MPI_Bcast(data.data(), 300, MPI_INT, 0, world) : MPI_Bcast_c(data.data(), 300, MPI_INT, 0, world),
      MPI_SUCCESS);
  EXPECT_EQ(data, std::vector<int>(300, 7));
  int sum = 0;
  MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, world);
  EXPECT_EQ(sum, size * (size - 1) / 2);
  MPI_Alltoall_c(mine.data(), 1, MPI_INT, got.data(), 1, MPI_INT, world);
  for (int i = 0; i < size; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i + 1);
  int from_left = -1;
  MPI_Status status;
  MPI_Sendrecv_c(&rank, 1, MPI_INT, right, 1, &from_left, 1, MPI_INT, left, 1, world, &status);
  EXPECT_EQ(from_left, left);
  EXPECT_EQ(status.MPI_SOURCE, left);
  EXPECT_EQ(notes().calls - calls, 4);

  // Those with a count for each rank.
  const std::vector<MPI_Count> ones(static_cast<std::size_t>(size), 1);
  std::vector<MPI_Aint> places;
  for (int i = 0; i < size; ++i) places.push_back(i);
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  MPI_Allgatherv_c(&rank, 1, MPI_INT, all.data(), ones.data(), places.data(), MPI_INT, world);
  for (int i = 0; i < size; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(notes().calls - calls, 5);

  // What does not fit is the library's, and so is its answer.
  PMPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  EXPECT_NE(MPI_Bcast_c(nullptr, MPI_Count{1} << 40, MPI_INT, size, world), MPI_SUCCESS);
  PMPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}
#endif

TEST(OtherWaits, InFiles) {
  const int rank = rank_of(MPI_COMM_WORLD);
  int id = getpid();
  PMPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string name = testing::TempDir() + "steelyard-files-" + std::to_string(id);
  const long calls = notes().calls;
  expect_twins([&](const Api& api) {
    Outcome outcome;
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    const int opened = api.File_open(MPI_COMM_WORLD, name.c_str(), mode, MPI_INFO_NULL, &file);
    outcome.add_error(opened);
    if (opened != MPI_SUCCESS) return outcome;
    PMPI_File_set_view(file, rank * 40, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    std::vector<int> data(10, rank), got(10, -1);
    MPI_Status status;
    outcome.add_error(api.File_write_all(file, data.data(), 5, MPI_INT, &status));
    outcome.add_status(status, MPI_INT);
    outcome.add_error(api.File_write_at_all(file, 5, data.data(), 5, MPI_INT, MPI_STATUS_IGNORE));
    outcome.add_error(api.File_read_at_all(file, 0, got.data(), 3, MPI_INT, &status));
    outcome.add_status(status, MPI_INT);
    PMPI_File_seek(file, 3, MPI_SEEK_SET);
    outcome.add_error(api.File_read_all(file, got.data() + 3, 7, MPI_INT, MPI_STATUS_IGNORE));
    outcome.add(got);
    EXPECT_EQ(got, data);
    outcome.add_error(api.File_close(&file));
    return outcome;
  });
  EXPECT_EQ(notes().calls - calls, 6);
}

}  // namespace
}  // namespace steelyard::intercept

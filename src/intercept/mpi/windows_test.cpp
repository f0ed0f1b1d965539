// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/twin.h"

namespace steelyard::intercept {
namespace {

using session::fake::notes;

class Windows : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(notes().windows, 0); }
  void TearDown() override { EXPECT_EQ(notes().windows, 0); }
  const int rank_ = rank_of(MPI_COMM_WORLD), size_ = size_of(MPI_COMM_WORLD);
};

TEST_F(Windows, AreAliveFromTheirMakingUntilTheyAreFreed) {
  long memory = 0, *allocated = nullptr, *shared = nullptr;
  MPI_Comm node;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Win windows[4];
  MPI_Win_create(&memory, sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[0]);
  EXPECT_EQ(notes().windows, 1);
  MPI_Win_allocate(sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &windows[1]);
  EXPECT_EQ(notes().windows, 2);
  MPI_Win_allocate_shared(sizeof(long), 1, MPI_INFO_NULL, node, &shared, &windows[2]);
  EXPECT_EQ(notes().windows, 2) << "in shared memory no other process advances an access";
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &windows[3]);
  EXPECT_EQ(notes().windows, 3);
  EXPECT_NE(allocated, nullptr);
  EXPECT_NE(shared, nullptr);
  const long calls = notes().calls;
  const int alive[] = {0, 1, 2, 2};
  for (int w = 3; w >= 0; --w) {
    MPI_Win_free(&windows[w]);
    EXPECT_EQ(windows[w], MPI_WIN_NULL);
    EXPECT_EQ(notes().windows, alive[w]);
  }
  EXPECT_EQ(notes().calls - calls, 4);
  PMPI_Comm_free(&node);
}

TEST_F(Windows, AreCountedWhereTheirMakingIsNotMeasured) {
  session::fake::measure(false);
  const long calls = notes().calls;
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  EXPECT_EQ(notes().windows, 1);
  MPI_Win_free(&window);
  session::fake::measure(true);
  EXPECT_EQ(notes().calls, calls);
}

TEST_F(Windows, MadeOrFreedUnseenDoNotUpsetTheCount) {
  MPI_Win unseen, seen;
  PMPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &unseen);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &seen);
  EXPECT_EQ(notes().windows, 1);
  MPI_Win_free(&unseen);
  EXPECT_EQ(notes().windows, 1);
  PMPI_Win_free(&seen);
}

TEST_F(Windows, RefusedByTheLibraryAreNotCounted) {
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  long memory = 0;
  MPI_Win window = MPI_WIN_NULL;
  EXPECT_NE(MPI_Win_create(&memory, sizeof(long), -1, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_SUCCESS);
  EXPECT_EQ(notes().windows, 0);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// All but the last rank draw tickets from its window while it waits for them: in a barrier, then for a message.
TEST_F(Windows, AreServedByThoseWhoWait) {
  constexpr long kTickets = 200;
  // Not on the stack, of which MPICH over UCX may know another address from an earlier window.
  static long counter = 0;
  const int target = size_ - 1;
  for (const bool in_barrier : {true, false}) {
    counter = 0;
    MPI_Win window;
    MPI_Win_create(&counter, sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    EXPECT_EQ(notes().windows, 1);
    const long asleep = notes().sleeps, calls = notes().calls;
    long sum = 0;
    if (rank_ != target) {
      MPI_Win_lock_all(0, window);
      for (long i = 0, one = 1, ticket = -1; i < kTickets; ++i, sum += ticket) {
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, target, 0, MPI_SUM, window);
        MPI_Win_flush(target, window);
      }
      MPI_Win_flush_all(window);
      MPI_Win_unlock_all(window);
      EXPECT_EQ(notes().calls - calls, kTickets + 3);
      if (!in_barrier) MPI_Ssend(&sum, 1, MPI_LONG, target, 1, MPI_COMM_WORLD);
    } else if (!in_barrier) {
      for (long i = 0, one = 0; i < target; ++i, sum += one)
        MPI_Recv(&one, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (in_barrier) {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    EXPECT_EQ(notes().sleeps, asleep);
    const long drawn = kTickets * target;
    if (in_barrier || rank_ == target) {
      EXPECT_EQ(sum, drawn * (drawn - 1) / 2);
    }
    MPI_Win_free(&window);
    if (rank_ == target) {
      EXPECT_EQ(counter, drawn);
    }
    settle();
  }
  // Without a window, waits may leave the core again.
  EXPECT_EQ(notes().windows, 0);
  const long asleep = notes().sleeps;
  if (rank_ == 0) usleep(20'000);
  MPI_Request request;
  PMPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank_ != 0) {
    EXPECT_GT(notes().sleeps, asleep);
  }
}

// Nothing is transferred: with Debian's MPICH 4.0.2 alone, without wrappers, what was put between fences did not
// arrive.
TEST_F(Windows, AreMeasuredInEpochsOfTheirTargets) {
  const int left = (rank_ + size_ - 1) % size_, right = (rank_ + 1) % size_;
  long memory = 0;
  MPI_Win window;
  MPI_Win_create(&memory, sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Group world, from, to;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_incl(world, 1, &left, &from);
  PMPI_Group_incl(world, 1, &right, &to);
  const long calls = notes().calls;
  MPI_Win_post(from, 0, window);
  MPI_Win_start(to, 0, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
  MPI_Win_flush_local(right, window);
  MPI_Win_flush_local_all(window);
  MPI_Win_unlock(right, window);
  EXPECT_EQ(notes().calls - calls, 7);
  MPI_Win_free(&window);
  for (MPI_Group* group : {&world, &from, &to}) PMPI_Group_free(group);
}

}  // namespace
}  // namespace steelyard::intercept

// SPDX-License-Identifier: BSD-3-Clause
// GoogleTest under an MPI launcher: the same tests at every rank, failed where one rank fails.
#include <gtest/gtest.h>
#include <mpi.h>

// No more than a test needs: above MPI_THREAD_SINGLE, Open MPI 4's own wait for a message with an error never ends.
#ifndef STEELYARD_TEST_THREADS
#define STEELYARD_TEST_THREADS MPI_THREAD_SINGLE
#endif

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, STEELYARD_TEST_THREADS, &provided);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    // What went well is said once.
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    struct Failures : testing::EmptyTestEventListener {
      void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.failed()) fprintf(stderr, "%s:%d: %s\n", result.file_name(), result.line_number(), result.message());
      }
    };
    listeners.Append(new Failures);
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}

// SPDX-License-Identifier: BSD-3-Clause
// stepped.c in C++: a step ends with steelyard::step().
#include <mpi.h>

#include <iostream>
#include <steelyard/steelyard.hpp>

namespace {

constexpr int steps = 20;
constexpr long iterations = 200, rounds = 15000;

// A chain of dependent operations that converges to 2, exactly.
long compute(double x) {
  for (long i = 0; i < rounds; ++i) x = 0.5 * x + 1.0;
  return static_cast<long>(x);
}

long run_region() {
  long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (long i = 0; i < iterations; ++i) sum += i * compute(static_cast<double>(i)) / 2;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;

  long sum = 0;
  auto status = steelyard::Status::success;
  for (int step = 0; step < steps; ++step) {
    for (int region = 0; region <= rank; ++region) sum += run_region();
    MPI_Sendrecv_replace(&sum, 1, MPI_LONG, next, 0, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    status = steelyard::step();
  }

  long total = 0;
  MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::cout << "stepped: steps " << steps << ", checksum " << total << '\n';
    if (status != steelyard::Status::success) std::cout << "stepped: " << steelyard::message() << '\n';
  }
  MPI_Finalize();
}

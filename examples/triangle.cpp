// SPDX-License-Identifier: BSD-3-Clause
// triangle.c in C++: loops over lambdas, and a sum.
#include <mpi.h>

#include <functional>
#include <iostream>
#include <steelyard/loops.hpp>
#include <vector>

int main(int argc, char** argv) {
  constexpr int steps = 20, rows = 600;
  constexpr long modulus = 1000003;
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<long> value(rows);

  // Both go over the same data: tied, so that a thread keeps its rows.
  steelyard::Loop fill("fill"), advance("advance");
  advance.tie(fill);
  steelyard::for_each(fill, 0, rows, [&](int i) { value[static_cast<std::size_t>(i)] = i + rank; });
  for (int step = 0; step < steps; ++step) {
    steelyard::for_each(advance, 0, rows, [&](int i) {
      long& row = value[static_cast<std::size_t>(i)];
      for (int j = 0; j <= i; ++j) row = (row * 31 + j) % modulus;
    });
  }
  const long sum = steelyard::reduce(value.begin(), value.end(), 0L, std::plus<>(), [](auto row) { return *row; });

  long total = 0;
  MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::cout << "triangle: steps " << steps << ", checksum " << total << '\n';
  MPI_Finalize();
}

// SPDX-License-Identifier: BSD-3-Clause
// reactive.c in C++17. A cell carries its place, and is a value: it travels as it is.
#include <mpi.h>

#include <iostream>
#include <numeric>
#include <steelyard/tasks.hpp>
#include <vector>

namespace {

constexpr int steps = 5, cells = 200;
constexpr long modulus = 1000003;

struct Cell {
  std::size_t place;
  long state, stiffness;
};

long integrate(const Cell& cell) {
  long state = cell.state;
  for (long i = 0; i < 1000 * cell.stiffness; ++i) state = (state * state + 1) % modulus;
  return state;
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0, provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    auto options = steelyard_task_pool_options_t STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
    options.threads = 2;
    steelyard::TaskPool<Cell, long> chemistry(MPI_COMM_WORLD, integrate, options);
    std::vector<long> field(cells);
    for (int i = 0; i < cells; ++i)
      field[static_cast<std::size_t>(i)] = (static_cast<long>(rank) * cells + i) * 7919 % modulus;
    for (int step = 0; step < steps; ++step) {
      for (std::size_t i = 0; i < field.size(); ++i) chemistry.spawn({i, field[i], rank == 0 ? 20 : 1});
      chemistry.run([&](const Cell& cell, long state) { field[cell.place] = state; });
    }
    const long sum = std::accumulate(field.begin(), field.end(), 0L);
    long total = 0;
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::cout << "reactive: steps " << steps << ", checksum " << total << '\n';
  } catch (const steelyard::Error& error) {
    std::cerr << "reactive: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

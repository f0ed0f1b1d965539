// SPDX-License-Identifier: BSD-3-Clause
// coupled.c in C++: scopes instead of pairs of calls.
#include <mpi.h>
#include <omp.h>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <steelyard/phases.hpp>
#include <vector>

namespace {

constexpr int steps = 10, cells = 300;
constexpr long modulus = 1000003;

// MPI-everywhere: each cell takes from its neighbours, on a ring of all ranks.
void transport(std::vector<long>& field, int rank, int ranks) {
  std::vector<long> old(cells + 2);
  std::copy(field.begin(), field.end(), old.begin() + 1);
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(&field[cells - 1], 1, MPI_LONG, next, 0, &old[0], 1, MPI_LONG, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&field[0], 1, MPI_LONG, previous, 1, &old[cells + 1], 1, MPI_LONG, next, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (std::size_t i = 0; i < cells; ++i) field[i] = (old[i] + 2 * old[i + 1] + old[i + 2]) % modulus;
}

// MPI+OpenMP, callee-driven: few ranks work, for all. How many, it finds out by itself.
void chemistry(std::vector<long>& field, steelyard::Phase& wide) {
  const steelyard::Span<long> all = wide.gather(field.data(), field.size());
  if (steelyard::ScopedPhase scope(wide); scope.chosen()) {
#pragma omp parallel for
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = (all[i] * all[i] + 1) % modulus;
  }
  const steelyard::Span<long> mine = wide.scatter_back<long>();
  std::copy(mine.begin(), mine.end(), field.begin());
}

// A threaded function that cannot be changed.
long equilibrate(long start) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < 1000; ++i) sum += (start + i) * (start + i) % modulus;
  return sum;
}

// Caller-driven: the parts of a phase, one by one.
long make_room_for_equilibrate(steelyard::Node& node, long start) {
  long result = 0;
  const bool chosen = node.distribute(STEELYARD_MACHINE, 1);
  node.barrier();
  if (chosen) {
    const steelyard::ScopedBinding binding(node, STEELYARD_MACHINE);
    result = equilibrate(start);
  }
  chosen ? node.barrier() : node.quiesce();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  int rank, ranks, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    steelyard::Node node(MPI_COMM_WORLD);
    steelyard::Phase wide(node);
    std::vector<long> field(cells);
    for (int i = 0; i < cells; ++i) field[static_cast<std::size_t>(i)] = (long{rank} * cells + i) * 7919 % 1000;
    for (int step = 0; step < steps; ++step) {
      transport(field, rank, ranks);
      chemistry(field, wide);
    }
    const long sum = std::accumulate(field.begin(), field.end(), 0L);
    long total = 0, results = 0;
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    const long result = make_room_for_equilibrate(node, total);
    MPI_Allreduce(&result, &results, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) std::cout << "coupled: steps " << steps << ", checksum " << total + results << '\n';
  } catch (const steelyard::Error& error) {
    std::cerr << "coupled: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

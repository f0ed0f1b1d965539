// SPDX-License-Identifier: BSD-3-Clause
// unbalanced.c in C++, reduced to the options --steps=N --work=MS --imbalance=PERCENT: the same loads, the same
// checksum.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

namespace {

constexpr double iteration_ms = 0.05;
constexpr long rounds = 15000;  // about 50 us

// A chain of dependent operations that converges to 2, exactly.
long compute(double x) {
  for (long i = 0; i < rounds; ++i) x = 0.5 * x + 1.0;
  return static_cast<long>(x);
}

long token(long step, long i) { return (step * 7919 + i * 104729) % 1000003; }

std::map<std::string, double> parse(int argc, char** argv) {
  std::map<std::string, double> options{{"--steps", 20}, {"--work", 40}, {"--imbalance", 100}};
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    const auto equals = word.find('=');
    const auto option = options.find(word.substr(0, equals));
    char excess;
    if (option == options.end() || equals == std::string::npos ||
        std::sscanf(argv[a] + equals, "=%lf%c", &option->second, &excess) != 1) {
      throw std::invalid_argument(word);
    }
  }
  return options;
}

long run_step(long step, long iterations) {
  long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (long i = 0; i < iterations; ++i) sum += token(step, i) * compute(static_cast<double>(i)) / 2;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  int provided, rank, ranks, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    const auto options = parse(argc, argv);
    const long steps = std::lround(options.at("--steps"));
    const double heaviest = ranks > 1 ? 1 + options.at("--imbalance") / 100 : 1;
    if (heaviest > ranks) throw std::invalid_argument("--imbalance: at most 100 x (ranks - 1)");
    const double load = rank == 0 ? heaviest : (ranks - heaviest) / (ranks - 1);
    const long iterations = std::lround(load * options.at("--work") / iteration_ms);

    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    long sum = 0;
    for (long step = 0; step < steps; ++step) {
      sum += run_step(step, iterations);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    const double mine = MPI_Wtime() - start;

    long total = 0;
    double seconds = 0;
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("unbalanced: steps %ld, seconds %.4f, checksum %ld\n", steps, seconds, total);
  } catch (const std::exception& error) {
    if (rank == 0) std::fprintf(stderr, "unbalanced: not understood: %s\n", error.what());
    status = 2;
  }
  MPI_Finalize();
  return status;
}

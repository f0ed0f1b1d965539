// SPDX-License-Identifier: BSD-3-Clause
// A coupled program in which each step has work for every capability of Steelyard:
//
//   part        what it does                                            capability, and how the program gets it
//   parameters  rank 0 broadcasts them while another rank is late       collectives: MPI_Bcast as it is
//   solver      a static OpenMP loop; rank 0 has most of the cells      cores: OpenMP as it is
//   cracks      a loop whose iterations become longer and longer        loops: steelyard_loop_begin() and so on
//   radiation   a threaded library without MPI computes for all ranks   phases: steelyard::Phase
//   chemistry   cells of unknown stiffness; one rank has most of them   tasks: steelyard::TaskPool
//
// Each part is compared with its serial result. The checksum is the same in all settings, with and without
// `steelyard run`.
#include <mpi.h>
#include <omp.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <steelyard/loops.hpp>
#include <steelyard/phases.hpp>
#include <steelyard/tasks.hpp>
#include <string>
#include <vector>

namespace {

const char* const usage =
    "usage: together [OPTION]...\n"
    "  --steps=N        steps (10)\n"
    "  --work=MS        thread time of a rank in each part, on average (10)\n"
    "  --kernel=KIND    compute; sleep: deadlines that stand for cores that are not here (compute)\n"
    "  --phases=on|off  off: rank 0 computes the radiation with its own threads (on)\n"
    "  --tasks=on|off   off: each rank integrates its own cells in an OpenMP loop (on)\n";

struct Options {
  long steps = 10;
  double work_ms = 10;
  bool sleeps = false, phases = true, tasks = true;
};
Options options;

Options parse(int argc, char** argv) {
  Options parsed;
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    char excess = 0;
    const auto choice = [&](const char* no, const char* yes, bool& chosen) {
      if (word == yes) chosen = true;
      if (word == no) chosen = false;
      return word == yes || word == no;
    };
    if (!choice("--kernel=compute", "--kernel=sleep", parsed.sleeps) &&
        !choice("--phases=off", "--phases=on", parsed.phases) && !choice("--tasks=off", "--tasks=on", parsed.tasks) &&
        std::sscanf(argv[a], "--steps=%ld%c", &parsed.steps, &excess) != 1 &&
        std::sscanf(argv[a], "--work=%lf%c", &parsed.work_ms, &excess) != 1)
      throw std::invalid_argument(word + "\n" + usage);
  }
  return parsed;
}

/// Thread time of a rank in each part, on average, ns.
long work_ns() { return static_cast<long>(options.work_ms * 1e6); }

// Functions of their own: a region whose frame is seen by others could depend on its number of threads, for all that
// `steelyard run` can prove.
[[gnu::noinline]] long now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
[[gnu::noinline]] void sleep_until(long ns) {
  const timespec t{ns / 1000000000L, ns % 1000000000L};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) continue;
}
// A chain of dependent operations, of 3.3 ns each on the machine that this was written on. It converges to 2, exactly,
// after 60 of them.
[[gnu::noinline]] long compute(long ns) {
  double x = 1;
  for (long i = 0; i < std::max(60L, ns * 3 / 10); ++i) x = 0.5 * x + 1;
  return static_cast<long>(x) / 2;
}

// What one thread computes. A thread that sleeps instead does so when it owes a millisecond: the kernel cannot time
// less.
class Worker {
 public:
  ~Worker() {
    if (options.sleeps) sleep_until(deadline_);
  }
  /// Takes that time. Returns 1.
  long work(long ns) {
    if (!options.sleeps) return compute(ns);
    deadline_ += ns;
    if (deadline_ - now_ns() >= 1000000) sleep_until(deadline_);
    return 1;
  }

 private:
  long deadline_ = now_ns();
};

struct World {
  int rank = 0, size = 1;
  /// One rank has twice the mean load, the others share the rest.
  double load(int of, int heaviest) const {
    if (size == 1) return 1;
    return of == heaviest ? 2 : static_cast<double>(size - 2) / (size - 1);
  }
};

constexpr long modulus = 1000003;
/// What iteration i of a part contributes to the checksum.
long token(long part, long step, long i) { return (part * 31337 + step * 7919 + i * 104729) % modulus; }

void compare(const char* part, long result, long expected) {
  if (result != expected) {
    throw std::runtime_error(std::string(part) + ": " + std::to_string(result) + " instead of " +
                             std::to_string(expected));
  }
}

// ------------------------------------------------------------------------------------------------ parameters
// Rank 0 needs no other rank for this. But the late rank is one of those that MPI's tree reaches first.
long read_parameters(const World& world, long step) {
  constexpr std::size_t count = 32768;
  std::vector<int> parameters(count);
  const auto value = [step](std::size_t i) { return static_cast<int>(token(1, step, static_cast<long>(i))); };
  if (world.rank == 0) {
    for (std::size_t i = 0; i < count; ++i) parameters[i] = value(i);
  } else if (world.rank == world.size / 2) {
    Worker().work(work_ns() / 4);
  }
  MPI_Bcast(parameters.data(), static_cast<int>(count), MPI_INT, 0, MPI_COMM_WORLD);
  long sum = 0, expected = 0;
  for (std::size_t i = 0; i < count; ++i) sum += parameters[i];
  for (std::size_t i = 0; i < count; ++i) expected += value(i);
  compare("parameters", sum, expected);
  return sum;
}

// ------------------------------------------------------------------------------------------------ solver
constexpr long cell_ns = 50000;

long cells_of(const World& world, int rank) {
  return static_cast<long>(world.load(rank, 0) * static_cast<double>(work_ns() / cell_ns) + 0.5);
}

long expected_of_solver(const World& world, int rank, long step) {
  long sum = 0;
  for (long i = 0; i < cells_of(world, rank); ++i) sum += token(2, step, i);
  return sum;
}

long solve(const World& world, long step) {
  const long cells = cells_of(world, world.rank);
  long sum = 0, neighbour = 0;
#pragma omp parallel reduction(+ : sum)
  {
    Worker worker;
#pragma omp for schedule(static) nowait
    for (long i = 0; i < cells; ++i) sum += token(2, step, i) * worker.work(cell_ns);
  }
  const int next = (world.rank + 1) % world.size, previous = (world.rank + world.size - 1) % world.size;
  MPI_Sendrecv(&sum, 1, MPI_LONG, next, 0, &neighbour, 1, MPI_LONG, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  compare("solver", sum, expected_of_solver(world, world.rank, step));
  compare("solver of the neighbour", neighbour, expected_of_solver(world, previous, step));
  return sum;
}

// ------------------------------------------------------------------------------------------------ cracks
long grow_cracks(steelyard::Loop& loop, long step) {
  constexpr long rows = 96;
  long sum = 0, expected = 0;
#pragma omp parallel reduction(+ : sum)
  {
    Worker worker;
    steelyard_iterations_t mine;
    steelyard_loop_begin(loop.handle(), 0, rows, 1, &mine);
    while (steelyard_loop_next(&mine) != 0) {
      for (std::int64_t i = mine.begin; i < mine.end; ++i)
        sum += token(3, step, i) * worker.work(work_ns() * (2 * i + 1) / (rows * rows));
    }
    steelyard_loop_end(&mine);
  }
  for (long i = 0; i < rows; ++i) expected += token(3, step, i);
  compare("cracks", sum, expected);
  return sum;
}

// ------------------------------------------------------------------------------------------------ radiation
// The library: it knows OpenMP, and nothing of MPI.
void radiate(long* field, std::size_t size) {
  const long each = work_ns() / static_cast<long>(size);
#pragma omp parallel
  {
    Worker worker;
#pragma omp for nowait
    for (std::size_t i = 0; i < size; ++i) field[i] = (field[i] * field[i] + worker.work(each)) % modulus;
  }
}

long radiation(const World& world, steelyard::Phase* wide, long step) {
  constexpr std::size_t share = 96;
  std::vector<long> field(share);
  const auto value = [&](std::size_t i) { return token(4, step, world.rank * 1000L + static_cast<long>(i)); };
  for (std::size_t i = 0; i < share; ++i) field[i] = value(i);
  if (wide != nullptr) {
    const steelyard::Span<long> all = wide->gather(field.data(), field.size());
    if (steelyard::ScopedPhase scope(*wide); scope.chosen()) radiate(all.data(), all.size());
    const steelyard::Span<long> mine = wide->scatter_back<long>();
    std::copy(mine.begin(), mine.end(), field.begin());
  } else {
    std::vector<long> all(world.rank == 0 ? share * static_cast<std::size_t>(world.size) : 0);
    MPI_Gather(field.data(), share, MPI_LONG, all.data(), share, MPI_LONG, 0, MPI_COMM_WORLD);
    if (world.rank == 0) radiate(all.data(), all.size());
    MPI_Scatter(all.data(), share, MPI_LONG, field.data(), share, MPI_LONG, 0, MPI_COMM_WORLD);
  }
  long sum = 0, expected = 0;
  for (std::size_t i = 0; i < share; ++i) sum += field[i];
  for (std::size_t i = 0; i < share; ++i) expected += (value(i) * value(i) + 1) % modulus;
  compare("radiation", sum, expected);
  return sum;
}

// ------------------------------------------------------------------------------------------------ chemistry
struct Cell {
  long state, ns;
};
using Chemistry = steelyard::TaskPool<Cell, long>;

long integrate(const Cell& cell) { return (cell.state * cell.state + Worker().work(cell.ns)) % modulus; }

long integrate_here(const std::vector<Cell>& cells) {
  long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (const Cell& cell : cells) sum += integrate(cell);
  return sum;
}

long integrate_anywhere(const std::vector<Cell>& cells, Chemistry& pool) {
  long sum = 0, results = 0;
  for (const Cell& cell : cells) pool.spawn(cell);
  pool.run([&](const Cell&, long state) {
    sum += state;
    ++results;
  });
  compare("results of chemistry", results, static_cast<long>(cells.size()));
  return sum;
}

long chemistry(const World& world, Chemistry* pool, long step) {
  constexpr long mean_count = 24;
  std::vector<Cell> cells(static_cast<std::size_t>(world.load(world.rank, world.size - 1) * mean_count + 0.5));
  long expected = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const long state = token(5, step, world.rank * 1000L + static_cast<long>(i));
    cells[i] = {state, work_ns() / mean_count * (20 + state % 161) / 100};  // 0.2 to 1.8 times the mean
    expected += (state * state + 1) % modulus;
  }
  const long sum = pool != nullptr ? integrate_anywhere(cells, *pool) : integrate_here(cells);
  compare("chemistry", sum, expected);
  return sum;
}

void run(const World& world) {
  steelyard::Loop cracks("cracks");
  std::unique_ptr<steelyard::Node> node;
  std::unique_ptr<steelyard::Phase> wide;
  if (options.phases) {
    node = std::make_unique<steelyard::Node>(MPI_COMM_WORLD);
    wide = std::make_unique<steelyard::Phase>(*node, STEELYARD_MACHINE, 1);
  }
  std::unique_ptr<Chemistry> pool;
  if (options.tasks) {
    auto pool_options = steelyard_task_pool_options_t STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
    pool_options.threads = omp_get_max_threads();
    pool = std::make_unique<Chemistry>(MPI_COMM_WORLD, integrate, pool_options);
  }

  std::array<long, 5> sums{}, totals{};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (long step = 0; step < options.steps; ++step) {
    sums[0] += read_parameters(world, step);
    sums[1] += solve(world, step);
    sums[2] += grow_cracks(cracks, step);
    sums[3] += radiation(world, wide.get(), step);
    sums[4] += chemistry(world, pool.get(), step);
    MPI_Allreduce(sums.data(), totals.data(), static_cast<int>(sums.size()), MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  const double seconds = MPI_Wtime() - start;
  long checksum = 0;
  for (const long total : totals) checksum = (checksum * 31 + total) % 1000000007;
  if (world.rank == 0)
    std::printf("together: steps %ld, seconds %.4f, checksum %ld\n", options.steps, seconds, checksum);
}

}  // namespace

int main(int argc, char** argv) {
  World world;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  try {
    options = parse(argc, argv);
    run(world);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "together: rank %d: %s\n", world.rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

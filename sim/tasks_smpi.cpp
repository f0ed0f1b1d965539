// SPDX-License-Identifier: BSD-3-Clause
// The pool of src/tasks itself, on the ranks of a simulated machine:
// `smpirun -np N tasks_smpi dlb|random [name=value ...]`. Sleeping, the clock and messages are SimGrid's; all else is
// what a program gets. Prints what bench/tasks.cpp prints.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../bench/dlb_bench.h"
#include "progress.h"
#include "tasks/pool.h"

using namespace steelyard::tasks;

namespace {

std::map<std::string, std::string> g_values;
int g_rank, g_ranks;

double number(const char* name, double otherwise) {
  const auto found = g_values.find(name);
  return found == g_values.end() ? otherwise : std::atof(found->second.c_str());
}

void pass(double ns) {
  timespec time{static_cast<time_t>(ns / 1e9), static_cast<long>(std::fmod(ns, 1e9))};
  nanosleep(&time, nullptr);
}

/// A long run, as rank 0 sees it: `length` seconds would be simulated if all had the same to do all the time.
struct Watch {
  Progress progress{"tasks_smpi", "of the time that ideal balance takes is simulated"};
  double length, start = -1;
  void look(double now) {
    if (start < 0) start = now;
    progress.look((now - start) / length);
  }
};
Watch* g_watch = nullptr;

double drawn(std::uint64_t what) { return (static_cast<double>(hash(what) >> 11) + 0.5) * 0x1p-53; }

class SimulatedTransport final : public Transport {
 public:
  explicit SimulatedTransport(int ranks_per_node) : ranks_per_node_(std::min(ranks_per_node, g_ranks)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &all_);
    MPI_Comm_split(all_, g_rank / ranks_per_node_, g_rank, &here_);
    MPI_Comm_rank(here_, &node_rank_);
    MPI_Comm_size(here_, &node_size_);
    std::fill(std::begin(sends_), std::end(sends_), MPI_REQUEST_NULL);
  }
  ~SimulatedTransport() override {
    MPI_Comm_free(&here_);
    MPI_Comm_free(&all_);
  }
  int rank() const override { return g_rank; }
  int size() const override { return g_ranks; }
  int node_rank() const override { return node_rank_; }
  int node_size() const override { return node_size_; }
  std::vector<std::int32_t> nodes() const override { return {}; }
  int ranks_per_node() const override { return ranks_per_node_; }
  // All of the machine's memory lies in one process of this one.
  std::uint64_t reach() const override { return std::uint64_t{1} << 28; }
  void broadcast_in_node(void* bytes, std::size_t size) override {
    MPI_Bcast(bytes, static_cast<int>(size), MPI_BYTE, 0, here_);
  }
  void broadcast(void* bytes, std::size_t size) override {
    MPI_Bcast(bytes, static_cast<int>(size), MPI_BYTE, 0, all_);
  }
  bool all_agree(bool mine) override {
    int everybody = 0;
    const int own = mine ? 1 : 0;
    MPI_Allreduce(&own, &everybody, 1, MPI_INT, MPI_LAND, all_);
    return everybody != 0;
  }
  int send(int to, const void* bytes, std::size_t size) override {
    const auto free = std::find(std::begin(sends_), std::end(sends_), MPI_REQUEST_NULL);
    if (free == std::end(sends_)) return -1;
    MPI_Isend(bytes, static_cast<int>(size), MPI_BYTE, to, 0, all_, free);
    return static_cast<int>(free - std::begin(sends_));
  }
  bool sent(int slot) override {
    int done = 0;
    MPI_Test(&sends_[slot], &done, MPI_STATUS_IGNORE);
    return done != 0;
  }
  bool arrived(int& from, std::size_t& bytes) override {
    MPI_Status status;
    int there = 0, count = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, all_, &there, &status);
    if (there == 0) return false;
    MPI_Get_count(&status, MPI_BYTE, &count);
    from = from_ = status.MPI_SOURCE;
    bytes = static_cast<std::size_t>(count);
    return true;
  }
  void receive(void* bytes, std::size_t size) override {
    MPI_Recv(bytes, static_cast<int>(size), MPI_BYTE, from_, 0, all_, MPI_STATUS_IGNORE);
  }
  // Late by chance, where a seed is given: what comes first somewhere comes last elsewhere.
  void pause(std::int64_t ns) override {
    static const auto seed = static_cast<std::uint64_t>(number("seed", 0));
    double late = 1;
    if (seed != 0) late = std::pow(100, drawn(seed << 40 ^ static_cast<std::uint64_t>(g_rank) << 24 ^ ++pauses_));
    pass(late * static_cast<double>(std::max<std::int64_t>(ns, 5000)));
  }
  std::int64_t now() const override {
    const double time = MPI_Wtime();
    if (g_watch != nullptr) g_watch->look(time);
    return static_cast<std::int64_t>(time * 1e9);
  }
  bool open() const override { return true; }
  void abandon() override {}

 private:
  MPI_Comm all_, here_;
  int ranks_per_node_, node_rank_ = 0, node_size_ = 1, from_ = 0;
  std::uint64_t pauses_ = 0;
  MPI_Request sends_[64];
};

void check(const steelyard::base::Status& status) {
  if (status) return;
  std::fprintf(stderr, "tasks_smpi: %s\n", status.sentence().c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct Load {
  double ns;
  std::uint32_t result, spawns;
};

/// Works, may spawn tasks that spawn one less each, and returns bytes.
void work(void*, Running& task) {
  static std::vector<char> result;
  Load load;
  std::memcpy(&load, task.input, sizeof(load));
  pass(load.ns);
  for (std::uint32_t child = 0; child < load.spawns; ++child) {
    const std::uint64_t tag = hash(task.tag * 31 + child);
    const Load next{load.ns * 2 * drawn(tag), load.result, load.spawns - 1};
    check(task.worker->spawn(0, tag, task.owner, &next, sizeof(next)));
  }
  result.resize(load.result);
  task.worker->set_result(result.data(), result.size());
}

/// A task and all that come of it.
std::uint64_t family(std::uint32_t spawns) { return spawns == 0 ? 1 : 1 + spawns * family(spawns - 1); }

std::unique_ptr<Pool> pool() {
  Settings settings;
  if (g_values.contains("policy")) settings.policy = g_values["policy"];
  settings.degree = static_cast<int>(number("group", 0));
  std::unique_ptr<Pool> made;
  auto transport = std::make_unique<SimulatedTransport>(static_cast<int>(number("node", 28)));
  check(Pool::create(std::move(transport), {{work, nullptr, true}}, "work", settings, made));
  return made;
}

struct Received {
  std::uint64_t results = 0, tags = 0;
};
const Consumer count_in(Received& received) {
  return {[](void* self, const Result& result) {
            ++static_cast<Received*>(self)->results;
            static_cast<Received*>(self)->tags += hash(result.tag);
          },
          &received};
}

/// Runs the pool, and says how well.
void measured(Pool& pool, double nominal, std::uint64_t expected) {
  Received received;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime(), busy = pool.statistics().busy_seconds;
  check(pool.run(count_in(received)));
  const double took = MPI_Wtime() - start;
  const Statistics all = pool.statistics();
  const std::uint64_t lost = expected > received.results ? expected - received.results : received.results - expected;
  const double mine[] = {nominal, all.busy_seconds - busy, static_cast<double>(lost),
                         static_cast<double>(all.results_sent), static_cast<double>(all.hops)};
  const double largest[] = {took, static_cast<double>(all.connections), static_cast<double>(all.degree)};
  double sum[5], most[3];
  MPI_Reduce(mine, sum, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(largest, most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (g_rank != 0) return;
  std::printf(
      "efficiency %.2f\nmeasured %.2f\nseconds %.4f\nlost %.0f\nhops %.2f\nconnections %.0f\ndegree %.0f\nrounds %lu\n",
      100 * sum[0] / (most[0] * g_ranks), 100 * sum[1] / (most[0] * g_ranks), most[0], sum[2],
      sum[3] > 0 ? sum[4] / sum[3] : 0, most[1], most[2], all.termination_rounds);
  std::fflush(stdout);
}

/// All tasks are there at the start; rank 0 tells every rank how many it owns.
void dlb(Pool& pool) {
  const auto a_rank = static_cast<std::uint64_t>(number("tasks", 200));
  std::vector<int> owned(g_rank == 0 ? static_cast<std::size_t>(g_ranks) : 0);
  if (g_rank == 0) {
    for (std::uint64_t i = 0; i < a_rank * static_cast<std::uint64_t>(g_ranks); ++i)
      ++owned[static_cast<std::size_t>(owner_of(i, g_ranks))];
  }
  int mine = 0;
  MPI_Scatter(owned.data(), 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const auto bytes = static_cast<std::size_t>(number("bytes", 1e6) / static_cast<double>(a_rank));
  std::vector<char> input(std::max(bytes, sizeof(Load)));
  double nominal = 0;
  for (int i = 0; i < mine; ++i) {
    const auto tag = static_cast<std::uint64_t>(g_rank) << 32 | static_cast<std::uint32_t>(i);
    const double ns =
        1e9 * number("seconds", 1) / static_cast<double>(a_rank) * (1 + number("spread", 0.2) * (2 * drawn(tag) - 1));
    const Load load{ns, static_cast<std::uint32_t>(input.size() / 4), 0};
    std::memcpy(input.data(), &load, sizeof(load));
    nominal += ns / 1e9;
    check(pool.spawn(0, tag, input.data(), input.size()));
  }
  Watch watch{.length = number("seconds", 1)};
  if (g_rank == 0) g_watch = &watch;
  measured(pool, nominal, static_cast<std::uint64_t>(mine));
  g_watch = nullptr;
}

/// Runs with tasks that spawn tasks, of ranks that are late: not one may be missing when a run ends.
void random(Pool& pool) {
  for (int run = 0; run < static_cast<int>(number("runs", 5)); ++run) {
    const std::uint64_t luck = hash(static_cast<std::uint64_t>(number("seed", 1)) << 32 ^
                                    static_cast<std::uint64_t>(run) << 16 ^ static_cast<std::uint64_t>(g_rank));
    pass(1e6 * std::pow(1000, drawn(luck)));
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < luck % 4 * 3; ++i) {
      const std::uint64_t tag = hash(luck + i);
      const Load load{1e3 * std::pow(1e4, drawn(tag)), static_cast<std::uint32_t>(tag % 5000),
                      static_cast<std::uint32_t>(tag % 4)};
      check(pool.spawn(0, tag, &load, sizeof(load)));
      expected += family(load.spawns);
    }
    measured(pool, 0, expected);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  const std::string what = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = std::min(word.find('='), word.size() - 1);
    g_values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  if (what != "dlb" && what != "random") {
    if (g_rank == 0) std::fputs("tasks_smpi dlb|random [name=value ...]\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const double meeting = 6e-6 * g_ranks * g_ranks;  // s: each hears of each
  if (g_rank == 0 && meeting > 4) std::fprintf(stderr, "tasks_smpi: %d ranks meet, about %.0f s\n", g_ranks, meeting);
  std::unique_ptr<Pool> made = pool();
  what == "dlb" ? dlb(*made) : random(*made);
  check(made->leave());
  made.reset();
  MPI_Finalize();
  return 0;
}

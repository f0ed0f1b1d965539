// SPDX-License-Identifier: BSD-3-Clause
// What `bench/tasks.py` measures: one figure a run, printed by rank 0. See --help.
#include <steelyard/tasks.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "dlb_bench.h"

namespace {

const char kHelp[] =
    "tasks dlb|uts|cost|steal|empty|progress [name=value ...]\n"
    "  dlb    DLB_Bench: tasks owned by few ranks; prints efficiency, nominal and by measured work\n"
    "         seconds=1 tasks=100 bytes=4096 result=1024 spread=0 steps=1 policy=small-world node=0 degree=0 "
    "kernel=sleep|spin owners=paper|places\n"
    "  uts    unbalanced tree search: tree=T1|T3|tiny; prints the number of nodes and the rate\n"
    "  cost   ns of spawning and executing an empty task, beside a function call through a queue and an OpenMP task\n"
    "  steal  us that a thief spends on a task of `bytes` whose owner computes (2 ranks)\n"
    "  empty  us of a run without tasks\n"
    "  progress  when tasks leave a node of which rank `busy` executes one long task; sleeping tasks. Nodes of node=2\n"
    "         ranks; busy=0 length=3 tasks=200 small=0.012 bytes=0 level=funneled|multiple\n";

int g_rank, g_ranks;
std::map<std::string, std::string> g_values;

double number(const char* name, double otherwise) {
  const auto found = g_values.find(name);
  return found == g_values.end() ? otherwise : std::atof(found->second.c_str());
}
std::string text(const char* name, const char* otherwise) {
  const auto found = g_values.find(name);
  return found == g_values.end() ? otherwise : found->second;
}
double seconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
void check(steelyard_status_t status) {
  if (status == STEELYARD_SUCCESS) return;
  std::fprintf(stderr, "tasks: %s\n", steelyard_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
steelyard_task_pool_t* pool_of(const std::vector<steelyard_task_type_t>& types) {
  static std::string policy = text("policy", "small-world");
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  options.policy = policy.c_str();
  options.ranks_per_node = static_cast<int>(number("node", 0));
  options.degree = static_cast<int>(number("degree", 0));
  options.steal_fraction = number("fraction", 0);
  steelyard_task_pool_t* pool = nullptr;
  check(steelyard_task_pool_create(MPI_COMM_WORLD, types.data(), static_cast<int>(types.size()), &options, &pool));
  return pool;
}
std::uint64_t total(std::uint64_t mine, MPI_Op how = MPI_SUM) {
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, how, MPI_COMM_WORLD);
  return all;
}
double total(double mine, MPI_Op how = MPI_SUM) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, how, MPI_COMM_WORLD);
  return all;
}
/// A barrier whose ranks sleep: many spinning ranks on few cores would keep late ranks from starting, and from ending.
void quiet_barrier() {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    const timespec pause{0, 200'000};
    if (done == 0) nanosleep(&pause, nullptr);
  }
}

// ---------------------------------------------------------------------------------------------- DLB_Bench ------------

struct Load {
  double seconds;
  std::uint32_t result;
  std::uint32_t spin;
};

int work(steelyard_task_t* task, void*) {
  static std::vector<char> result;
  Load load;
  std::memcpy(&load, task->data, sizeof(load));
  const double end = seconds() + load.seconds;
  if (load.spin != 0) {
    while (seconds() < end) {
    }
  } else {  // to an absolute time: stands for a core that computes
    const timespec until{static_cast<time_t>(end), static_cast<long>((end - std::floor(end)) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
  result.resize(load.result);
  steelyard_task_set_result(task, result.data(), result.size());
  return 0;
}

/// Each rank draws the same owners of all tasks, and keeps its own tasks.
void dlb() {
  const auto a_rank = static_cast<std::uint64_t>(number("tasks", 100));
  const double work_a_rank = number("seconds", 1), spread = number("spread", 0);
  const auto bytes = static_cast<std::size_t>(number("bytes", 4096));
  const int steps = static_cast<int>(number("steps", 1));
  Load load{work_a_rank / static_cast<double>(a_rank), static_cast<std::uint32_t>(number("result", 1024)),
            text("kernel", "sleep") == "spin" ? 1u : 0u};
  steelyard_task_pool_t* pool = pool_of({{"work", work, nullptr, 1}});
  std::vector<char> input(std::max(bytes, sizeof(Load)));
  double wall = 0;
  std::uint64_t back = 0, owned = 0;
  double nominal = 0;
  const std::vector<double> shares = shares_by_place(g_ranks);
  const bool by_place = text("owners", "paper") == "places";
  for (int step = 0; step < steps; ++step) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (std::uint64_t i = 0; i < a_rank * static_cast<std::uint64_t>(g_ranks); ++i) {
      if ((by_place ? owner_of(i, shares) : owner_of(i, g_ranks)) != g_rank) continue;
      Load mine = load;
      mine.seconds *= 1 + spread * (2 * static_cast<double>(mixed(i ^ 0x5555) >> 11) * 0x1p-53 - 1);
      nominal += mine.seconds;
      std::memcpy(input.data(), &mine, sizeof(mine));
      check(steelyard_task_pool_spawn(pool, 0, i, input.data(), input.size()));
      ++owned;
    }
    quiet_barrier();
    const double start = seconds();
    check(steelyard_task_pool_run(
        pool, [](const steelyard_task_result_t*, void* count) { ++*static_cast<std::uint64_t*>(count); }, &back));
    const double took = seconds() - start;
    quiet_barrier();
    wall += total(took, MPI_MAX);
  }
  steelyard_task_pool_statistics_t all;
  check(steelyard_task_pool_get_statistics(pool, &all));
  const std::uint64_t lost = total(owned > back ? owned - back : back - owned);
  const double efficiency = total(nominal) / (wall * g_ranks), measured = total(all.busy_seconds) / (wall * g_ranks);
  const std::uint64_t stolen = total(all.stolen_local + all.stolen_remote), sent = total(all.results_sent),
                      hops = total(all.hops);
  const std::uint64_t connections = total(static_cast<std::uint64_t>(all.connections), MPI_MAX);
  const std::uint64_t messages = total(all.messages);
  const std::uint64_t most = total(owned, MPI_MAX);
  if (g_rank == 0) {
    std::printf(
        "efficiency %.2f\nmeasured %.2f\nseconds %.4f\nlost %lu\nunbalanced %.1f\nstolen %lu\nhops %.2f\nconnections "
        "%lu\nmessages %lu\n",
        100 * efficiency, 100 * measured, wall, lost,
        100.0 * static_cast<double>(a_rank) * steps / static_cast<double>(most), stolen,
        sent == 0 ? 0.0 : static_cast<double>(hops) / static_cast<double>(sent), connections, messages);
  }
  check(steelyard_task_pool_free(pool));
}

// ---------------------------------------------------------------------------------------------- UTS ------------------

struct State {
  unsigned char bytes[20];
};

/// SHA-1 of so few bytes that they fit one block: the generator that the published trees are made with.
State sha1(const unsigned char* bytes, unsigned count) {
  std::uint32_t w[80] = {};
  for (unsigned i = 0; i < count; ++i) w[i / 4] |= static_cast<std::uint32_t>(bytes[i]) << (24 - 8 * (i % 4));
  w[count / 4] |= 0x80u << (24 - 8 * (count % 4));
  w[15] = 8 * count;
  const auto turn = [](std::uint32_t x, int by) { return x << by | x >> (32 - by); };
  for (int i = 16; i < 80; ++i) w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  const std::uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
  for (int i = 0; i < 80; ++i) {
    const std::uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
    const std::uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
    const std::uint32_t next = turn(a, 5) + f + e + k + w[i];
    e = d, d = c, c = turn(b, 30), b = a, a = next;
  }
  const std::uint32_t sum[5] = {h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e};
  State state;
  for (int i = 0; i < 20; ++i) state.bytes[i] = static_cast<unsigned char>(sum[i / 4] >> (24 - 8 * (i % 4)));
  return state;
}

struct Node {
  State state;
  std::int32_t height;
};
struct Tree {
  bool geometric;
  double branching;
  int depth;           // of geometric ones
  double probability;  // of a node of binomial ones to have children
  int children;        // that it has then
  int seed;
};
const std::map<std::string, std::pair<Tree, std::uint64_t>> kTrees = {
    {"T1", {{true, 4, 10, 0, 0, 19}, 4130071}},
    {"T3", {{false, 2000, 0, 0.124875, 8, 42}, 4112897}},
    {"tiny", {{true, 4, 6, 0, 0, 19}, 0}},
};
Tree g_tree;
std::uint64_t g_nodes;

int children_of(const Node& node) {
  const unsigned char* s = node.state.bytes;
  const std::uint32_t random = (static_cast<std::uint32_t>(s[16]) << 24 | static_cast<std::uint32_t>(s[17]) << 16 |
                                static_cast<std::uint32_t>(s[18]) << 8 | s[19]) &
                               0x7fffffff;
  const double u = random / 2147483648.0;
  if (!g_tree.geometric)
    return node.height == 0 ? static_cast<int>(g_tree.branching) : u < g_tree.probability ? g_tree.children : 0;
  const double branching = node.height < g_tree.depth ? g_tree.branching : 0;
  return std::min(100, static_cast<int>(std::floor(std::log(1 - u) / std::log(1 - 1 / (1 + branching)))));
}

int visit(steelyard_task_t* task, void*) {
  Node node;
  std::memcpy(&node, task->data, sizeof(node));
  ++g_nodes;
  unsigned char seed[24];
  std::memcpy(seed, node.state.bytes, 20);
  const int children = children_of(node);
  for (int i = 0; i < children; ++i) {
    seed[20] = static_cast<unsigned char>(i >> 24), seed[21] = static_cast<unsigned char>(i >> 16);
    seed[22] = static_cast<unsigned char>(i >> 8), seed[23] = static_cast<unsigned char>(i);
    const Node child{sha1(seed, 24), node.height + 1};
    if (steelyard_task_spawn(task, 0, 0, &child, sizeof(child)) != STEELYARD_SUCCESS) return 1;
  }
  return 0;
}

void uts() {
  const auto found = kTrees.find(text("tree", "T1"));
  if (found == kTrees.end()) {
    if (g_rank == 0) std::fputs("tasks: tree must be T1, T3 or tiny\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return;
  }
  g_tree = found->second.first;
  steelyard_task_pool_t* pool = pool_of({{"visit", visit, nullptr, 0}});
  const unsigned char seed[20] = {0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  static_cast<unsigned char>(g_tree.seed >> 24),
                                  static_cast<unsigned char>(g_tree.seed >> 16),
                                  static_cast<unsigned char>(g_tree.seed >> 8),
                                  static_cast<unsigned char>(g_tree.seed)};
  const Node root{sha1(seed, 20), 0};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = seconds();
  if (g_rank == 0) check(steelyard_task_pool_spawn(pool, 0, 0, &root, sizeof(root)));
  check(steelyard_task_pool_run(pool, nullptr, nullptr));
  const double wall = total(seconds() - start, MPI_MAX);
  const std::uint64_t nodes = total(g_nodes);
  steelyard_task_pool_statistics_t all;
  check(steelyard_task_pool_get_statistics(pool, &all));
  const std::uint64_t stolen = total(all.stolen_local + all.stolen_remote);
  if (g_rank == 0) {
    std::printf("nodes %lu\nexact %d\nseconds %.4f\nrate %.0f\nstolen %lu\n", nodes,
                found->second.second == 0 || nodes == found->second.second, wall, static_cast<double>(nodes) / wall,
                stolen);
  }
  check(steelyard_task_pool_free(pool));
}

// ---------------------------------------------------------------------------------------------- costs ----------------

int nothing(steelyard_task_t*, void*) { return 0; }

int burst(steelyard_task_t* task, void*) {
  int left = 0;
  std::memcpy(&left, task->data, sizeof(left));
  // The newest task runs first: the next burst after all of this one.
  if (--left > 0) steelyard_task_spawn(task, 1, 0, &left, sizeof(left));
  for (int i = 0; i < 1000; ++i) steelyard_task_spawn(task, 0, 0, &i, sizeof(i));
  return 0;
}

struct Call {
  int (*function)(steelyard_task_t*, void*);
  char input[56];
};

void cost() {
  steelyard_task_pool_t* pool = pool_of({{"nothing", nothing, nullptr, 0}, {"burst", burst, nullptr, 0}});
  const int bursts = 1000;
  const double tasks = 1000.0 * bursts;
  std::vector<double> ours, queue, openmp;
  for (int round = 0; round < 7; ++round) {
    double start = seconds();
    check(steelyard_task_pool_spawn(pool, 1, 0, &bursts, sizeof(bursts)));
    check(steelyard_task_pool_run(pool, nullptr, nullptr));
    ours.push_back((seconds() - start) / tasks * 1e9);
    start = seconds();
    std::deque<Call> calls;
    for (int i = 0; i < bursts; ++i) {
      for (int j = 0; j < 1000; ++j) calls.push_back({nothing, {static_cast<char>(j)}});
      for (; !calls.empty(); calls.pop_back()) calls.back().function(nullptr, calls.back().input);
    }
    queue.push_back((seconds() - start) / tasks * 1e9);
    start = seconds();
#ifdef _OPENMP
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < bursts; ++i) {
      for (int j = 0; j < 1000; ++j) {
#pragma omp task firstprivate(j)
        nothing(reinterpret_cast<steelyard_task_t*>(static_cast<std::intptr_t>(j)), nullptr);
      }
#pragma omp taskwait
    }
#endif
    openmp.push_back((seconds() - start) / tasks * 1e9);
  }
  const auto median = [](std::vector<double>& of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
  };
  if (g_rank == 0) std::printf("task %.1f\nqueue %.1f\nopenmp %.1f\n", median(ours), median(queue), median(openmp));
  check(steelyard_task_pool_free(pool));
}

double g_first, g_last;
int g_count;
int small(steelyard_task_t*, void*) {
  g_last = seconds();
  ++g_count;
  if (g_first == 0) g_first = g_last;
  return 0;
}
int compute(steelyard_task_t* task, void*) {
  double length = 0;
  std::memcpy(&length, task->data, sizeof(length));
  for (const double end = seconds() + length; seconds() < end;) {
  }
  return 0;
}

void steal() {
  g_values["fraction"] = "1e-9";  // one at a time
  steelyard_task_pool_t* pool = pool_of({{"small", small, nullptr, 0}, {"compute", compute, nullptr, 0}});
  const int tasks = 1000;
  std::vector<char> input(static_cast<std::size_t>(number("bytes", 1024)));
  std::vector<double> found;
  for (int round = 0; round < 15; ++round) {
    const double length = 0.05;
    if (g_rank == 0) {
      for (int i = 0; i < tasks; ++i) check(steelyard_task_pool_spawn(pool, 0, 0, input.data(), input.size()));
      check(steelyard_task_pool_spawn(pool, 1, 0, &length, sizeof(length)));
    }
    g_first = 0;
    g_count = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    check(steelyard_task_pool_run(pool, nullptr, nullptr));
    found.push_back((g_last - g_first) / std::max(g_count - 1, 1) * 1e6);
  }
  steelyard_task_pool_statistics_t all;
  check(steelyard_task_pool_get_statistics(pool, &all));
  std::sort(found.begin(), found.end());
  double mine[2] = {found[found.size() / 2], static_cast<double>(all.stolen_local + all.stolen_remote)};
  if (g_ranks > 1 && g_rank == 1) MPI_Send(mine, 2, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  if (g_rank == 0) {
    if (g_ranks > 1) MPI_Recv(mine, 2, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf("us %.3f\nstolen %.0f\n", mine[0], mine[1]);
  }
  check(steelyard_task_pool_free(pool));
}

// ---------------------------------------------------------------------------------------------- progress -------------

double g_run_begins, g_first_start = 1e9, g_last_end;

/// Sleeps, and notes when: rank `busy` for `length` seconds, all other tasks for a short time.
int nap(steelyard_task_t* task, void*) {
  double length = 0;
  std::memcpy(&length, task->data, sizeof(length));
  const double start = seconds(), end = start + length;
  const timespec until{static_cast<time_t>(end), static_cast<long>((end - std::floor(end)) * 1e9)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  if (task->type == 1) return 0;
  static std::vector<char> result(static_cast<std::size_t>(number("bytes", 0)));
  steelyard_task_set_result(task, result.data(), result.size());
  g_first_start = std::min(g_first_start, start - g_run_begins);
  g_last_end = std::max(g_last_end, seconds() - g_run_begins);
  ++g_count;
  return 0;
}

/// A rank of the first node owns all short tasks. On rank `busy` of it, another one if there is one, a long task begins
/// first.
void progress() {
  const int node = static_cast<int>(number("node", 2)), busy = static_cast<int>(number("busy", 0));
  const int owner = (busy + 1) % node;
  const int tasks = static_cast<int>(number("tasks", 200));
  const double length = number("length", 3), small = number("small", 0.012);
  g_values["node"] = std::to_string(node);
  steelyard_task_pool_t* pool = pool_of({{"short", nap, nullptr, 1}, {"long", nap, nullptr, 0}});
  if (g_rank == owner) {
    for (int i = 0; i < tasks; ++i) check(steelyard_task_pool_spawn(pool, 0, 0, &small, sizeof(small)));
  }
  if (g_rank == busy) check(steelyard_task_pool_spawn(pool, 1, 0, &length, sizeof(length)));
  quiet_barrier();
  g_run_begins = total(seconds(), MPI_MAX);
  if (g_rank != busy) usleep(5'000);  // the long task is not stolen
  struct Home {
    int results;
    double last;
  } home{};
  check(steelyard_task_pool_run(
      pool,
      [](const steelyard_task_result_t*, void* user) {
        ++static_cast<Home*>(user)->results;
        static_cast<Home*>(user)->last = seconds() - g_run_begins;
      },
      &home));
  const bool far = g_rank >= node;
  const double first = total(far ? g_first_start : 1e9, MPI_MIN), last = total(g_last_end, MPI_MAX);
  const double back = total(home.last, MPI_MAX);
  const std::uint64_t moved = total(static_cast<std::uint64_t>(far ? g_count : 0));
  const std::uint64_t results = total(static_cast<std::uint64_t>(home.results));
  if (g_rank == 0) {
    std::printf("first %.1f\nseconds %.3f\nhome %.3f\nmoved %lu\nlost %ld\n", first * 1e3, last, back, moved,
                static_cast<long>(tasks) - static_cast<long>(results));
  }
  check(steelyard_task_pool_free(pool));
}

void empty() {
  steelyard_task_pool_t* pool = pool_of({{"nothing", nothing, nullptr, 0}});
  const int runs = 1000;
  check(steelyard_task_pool_run(pool, nullptr, nullptr));
  const double start = seconds();
  for (int i = 0; i < runs; ++i) check(steelyard_task_pool_run(pool, nullptr, nullptr));
  if (g_rank == 0) std::printf("us %.2f\n", (seconds() - start) / runs * 1e6);
  check(steelyard_task_pool_free(pool));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    g_values[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  int provided;
  MPI_Init_thread(&argc, &argv, text("level", "funneled") == "multiple" ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  const std::map<std::string, void (*)()> benchmarks = {{"dlb", dlb},     {"uts", uts},     {"cost", cost},
                                                        {"steal", steal}, {"empty", empty}, {"progress", progress}};
  const auto chosen = benchmarks.find(what);
  if (chosen != benchmarks.end()) {
    chosen->second();
  } else if (g_rank == 0) {
    std::fputs(kHelp, stderr);
  }
  MPI_Finalize();
  return chosen != benchmarks.end() ? 0 : 2;
}

// SPDX-License-Identifier: BSD-3-Clause
// The tree of src/collectives itself, on the ranks of a simulated machine:
//   smpirun -np N collectives_smpi PATTERN BYTES ROUNDS MICROSECONDS steelyard|library [name=value ...]
// Before each broadcast ranks are delayed by PATTERN, as in bench/collectives.c. Prints the mean time in the broadcast
// by rank and call (us), of the second half of the rounds. `library`: SimGrid's own broadcast, as --cfg=smpi/bcast:NAME
// says. Inside a node there is a model of the shared memory: the leader publishes the data, and each rank takes them at
// a core's pace.
#include <mpi.h>
#include <time.h>

#include <simgrid/s4u/ConditionVariable.hpp>
#include <simgrid/s4u/Mutex.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/clock.h"
#include "collectives/call.h"
#include "collectives/tree.h"
#include "intercept/mpi/port.h"
#include "progress.h"

using namespace steelyard;

namespace {

constexpr double kBytesPerNs = 4;  // a copy, with all cores of the node at it
int g_rank, g_size;
std::map<std::string, std::string> g_values;

std::string word(const char* name, const char* otherwise) {
  const auto found = g_values.find(name);
  return found == g_values.end() ? otherwise : found->second;
}

void pass(double ns) {
  timespec time{static_cast<time_t>(ns / 1e9), static_cast<long>(std::fmod(ns, 1e9))};
  if (ns > 0) nanosleep(&time, nullptr);
}

/// What the ranks of a node share: all simulated ranks live in one process.
struct Board {
  std::int64_t number = 0;     // of the broadcast that lies in it
  std::int64_t since = 0;      // when it was put up
  std::map<int, double> came;  // by rank: after that, smoothed
  simgrid::s4u::MutexPtr mutex = simgrid::s4u::Mutex::create();
  simgrid::s4u::ConditionVariablePtr is_there = simgrid::s4u::ConditionVariable::create();
  collectives::Tree::Head head;
  std::vector<char> row;
};

/// Advances its messages by itself.
class Library final : public port::Progress {
 public:
  void progress() override {}
};

/// Time passes while a rank waits.
class PassingCall final : public collectives::Call {
 public:
  using Call::Call;

 private:
  bool pause() override {
    pass(std::min(1000.0 * ++pauses_, 5000.0));
    return false;
  }
  int pauses_ = 0;
};

class Steelyard {
 public:
  Steelyard(int node, const collectives::Settings& settings)
      : messages_(MPI_COMM_WORLD),
        ranks_(messages_.comm()),
        post_(messages_, ranks_),
        tree_(ranks_, post_, all_ranks(), node, true, settings, word("policy", "sort") == "sort") {
    Board* boards = g_rank == 0 ? new Board[static_cast<std::size_t>(g_size)] : nullptr;
    MPI_Bcast(&boards, sizeof boards, MPI_BYTE, 0, MPI_COMM_WORLD);
    board_ = boards + node;
  }

  void broadcast(std::vector<char>& data, int root) {
    if (left_ > 0) {
      --left_;
      PMPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, root, MPI_COMM_WORLD);
      return;
    }
    tree_.next(root);
    ++number_;
    const std::int64_t came = base::now_ns();
    PassingCall call(library_);
    if (tree_.leader(root) == g_rank) {
      lead(data, root, came, call);
    } else {
      wait_for_notice();
      note_arrival(came);
      if (!board_->head.by_library) {
        take(data);
        tree_.learn(board_->row.data() + board_->head.bytes, board_->head.note);
      }
    }
    left_ = board_->head.left;
    if (board_->head.by_library) PMPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, root, MPI_COMM_WORLD);
  }

 private:
  static std::vector<int> all_ranks() {
    std::vector<int> ranks(static_cast<std::size_t>(g_size));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }

  void take(std::vector<char>& data) const {
    std::copy_n(board_->row.begin(), data.size(), data.begin());
    pass(static_cast<double>(data.size()) / kBytesPerNs);
  }

  // Real ranks look again and again, within a microsecond. Simulated ones are woken up.
  void wait_for_notice() {
    const std::unique_lock<simgrid::s4u::Mutex> lock(*board_->mutex);
    board_->is_there->wait(lock, [&] { return board_->number >= number_; });
  }

  void put_up_notice() {
    board_->number = number_;
    board_->is_there->notify_all();
  }

  void note_arrival(std::int64_t came) {
    double& smoothed = board_->came[g_rank];
    smoothed += (static_cast<double>(came - board_->since) - smoothed) / 4;
  }

  collectives::Board::Arrivals arrivals() {
    collectives::Board::Arrivals found;
    const double mine = board_->came[g_rank];
    for (const auto& [rank, came] : board_->came) {
      found.late = std::max(found.late, static_cast<std::int64_t>(came));
      const auto early = static_cast<std::int64_t>(mine - came);
      if (found.first >= 0 && early <= found.early) continue;
      found.first = rank;
      found.early = early;
    }
    return found;
  }

  void lead(std::vector<char>& data, int root, std::int64_t came, collectives::Call& call) {
    std::vector<int> note;
    Board& board = *board_;
    board.head =
        root == g_rank ? tree_.begin(data.size(), came, arrivals(), note) : tree_.receive(root, came, arrivals(), call);
    board.row.resize(board.head.total());
    if (board.head.by_library) {
      board.since = base::now_ns();
      put_up_notice();
      note_arrival(came);
      tree_.send(board.head, root, nullptr, call);
      return;
    }
    if (root == g_rank) {
      std::copy(data.begin(), data.end(), board.row.begin());
      std::memcpy(board.row.data() + board.head.bytes, note.data(), board.head.note);
      pass(static_cast<double>(data.size()) / kBytesPerNs);
    } else {
      tree_.receive_row(board.head, root, board.row.data(), call);
    }
    board.since = base::now_ns();
    put_up_notice();
    note_arrival(came);
    tree_.send(board.head, root, board.row.data(), call);
    if (root != g_rank) take(data);
    tree_.finish(call);
    tree_.learn(board.row.data() + board.head.bytes, board.head.note);
  }

  Library library_;
  intercept::MpiMessages messages_;
  intercept::MpiExchange ranks_;
  collectives::Post post_;
  collectives::Tree tree_;
  Board* board_ = nullptr;
  std::int64_t number_ = 0;
  std::uint32_t left_ = 0;
};

unsigned hash(unsigned a, unsigned b) {
  unsigned x = a * 2654435761U ^ (b + 1) * 2246822519U;
  x ^= x >> 15;
  x *= 2654435761U;
  return x ^ x >> 13;
}

double load(const std::string& pattern, int round, double us) {
  if (pattern == "late") return g_rank == std::atoi(word("rank", "1").c_str()) ? us : 0;
  if (g_rank == 0) return 0;  // all ranks must wait for the root, with any library
  if (pattern == "persistent") return us * (hash(static_cast<unsigned>(g_rank), 0) % 1000) / 1000;
  if (pattern == "transient") {
    return us * (hash(static_cast<unsigned>(g_rank), static_cast<unsigned>(round) + 1) % 1000) / 1000;
  }
  return 0;
}

double mean_of_all(double mine) {
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum / g_size;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
  if (argc < 6) {
    if (g_rank == 0) {
      std::fprintf(stderr,
                   "collectives_smpi late|persistent|transient|none BYTES ROUNDS MICROSECONDS steelyard|library "
                   "[rank=R policy=sort|swap|soga|binomial every=N threshold=US node=RANKS]\n");
    }
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int i = 6; i < argc; ++i) {
    const std::string given = argv[i];
    g_values[given.substr(0, given.find('='))] = given.substr(given.find('=') + 1);
  }
  const std::string pattern = argv[1];
  std::vector<char> data(static_cast<std::size_t>(std::atoi(argv[2])));
  const int rounds = std::atoi(argv[3]);
  const double us = std::atof(argv[4]);
  collectives::Settings settings;
  settings.every = std::atoi(word("every", "4").c_str());
  settings.threshold = std::atoll(word("threshold", "50").c_str()) * 1000;
  if (word("policy", "sort") == "soga") settings.policy = collectives::Policy::soga;
  if (word("policy", "sort") == "swap") settings.policy = collectives::Policy::swap;
  if (word("policy", "sort") == "binomial") settings.policy = collectives::Policy::binomial;
  std::unique_ptr<Steelyard> ours;
  if (std::strcmp(argv[5], "steelyard") == 0) {
    const double meeting = 8e-6 * g_size * g_size;  // s: each hears of each
    if (g_rank == 0 && meeting > 5)
      std::fprintf(stderr, "collectives_smpi: %d ranks meet, about %.0f s\n", g_size, meeting);
    ours = std::make_unique<Steelyard>(g_rank / std::atoi(word("node", "28").c_str()), settings);
  }
  double sum = 0;
  int wrong = 0;
  Progress progress("collectives_smpi", "of the broadcasts are made");
  for (int i = 0; i < rounds; ++i) {
    if (g_rank == 0) progress.look(static_cast<double>(i) / rounds);
    if (g_rank == 0) std::fill(data.begin(), data.end(), static_cast<char>(i + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    pass(load(pattern, i, us) * 1e3);
    const double start = MPI_Wtime();
    if (ours) {
      ours->broadcast(data, 0);
    } else {
      MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    if (i >= rounds / 2) sum += MPI_Wtime() - start;
    wrong += data.front() != static_cast<char>(i + 1) || data.back() != static_cast<char>(i + 1) ? 1 : 0;
  }
  const double mean = mean_of_all(sum / (rounds - rounds / 2) * 1e6);
  const double wrongs = mean_of_all(wrong);
  if (g_rank == 0) std::printf("wait %.1f\nwrong %g\n", mean, wrongs);
  ours.reset();
  MPI_Finalize();
  return 0;
}

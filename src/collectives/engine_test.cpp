// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts and scatters without MPI: ranks are threads, on nodes of any shape, and arrive in any order and time.
#include "collectives/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "base/sanitized.h"
#include "collectives/call.h"
#include "collectives/played_node.h"
#include "port/played_messages.h"

namespace steelyard::collectives {
namespace {

using Random = std::mt19937;

class NoLibrary final : public port::Progress {
 public:
  void progress() override {}
};

/// Leaves the core to the other ranks at once.
class PlayedCall final : public Call {
 public:
  PlayedCall(port::Progress& library, port::PlayedNetwork& network, int rank)
      : Call(library), network_(network), rank_(rank) {}
  void arrive(int, bool) override { ++arrived; }
  int arrived = 0;

 private:
  bool pause() override {
    network_.watch("a broadcast", rank_);
    std::this_thread::yield();
    return true;
  }
  port::PlayedNetwork& network_;
  int rank_;
};

/// Bytes in a row, or with gaps, which are packed. Each of them has its own value, so that a byte in the wrong place is
/// seen.
class Buffer final : public port::Layout {
 public:
  Buffer(std::size_t bytes, bool gaps) : gaps_(gaps), memory_(bytes * (gaps ? 2 : 1) + 1, '-') {
    at_ = memory_.data();
    bytes_ = bytes;
    contiguous_ = !gaps;
  }
  static char value(unsigned call, std::size_t at) { return static_cast<char>(call * 31 + at * 7 + at / 251); }
  void fill(unsigned call) {
    for (std::size_t i = 0; i < bytes_; ++i) byte(i) = value(call, i);
  }
  /// @param from the byte of the root's row that is the first here
  bool has(unsigned call, std::size_t bytes, std::size_t from = 0) const {
    for (std::size_t i = 0; i < bytes; ++i) {
      if (memory_[gaps_ ? 2 * i : i] != value(call, from + i)) return false;
    }
    return true;
  }
  char& byte(std::size_t i) { return memory_[gaps_ ? 2 * i : i]; }

 private:
  bool pack(char* row) const override {
    for (std::size_t i = 0; i < bytes_; ++i) row[i] = memory_[2 * i];
    return true;
  }
  bool unpack(const char* row, std::size_t bytes) const override {
    for (std::size_t i = 0; i < bytes; ++i) memory_[2 * i] = row[i];
    return true;
  }
  bool gaps_;
  mutable std::string memory_;
};

struct Cluster {
  std::vector<int> nodes;  // ranks of each
  Policy policy = Policy::sort;
  bool compares = false;
  bool may_leave = true;
  bool room = true;
};

struct Communicator {
  std::vector<int> members;  // world ranks
};

class Machine {
 public:
  Machine(Cluster cluster, std::vector<Communicator> of, unsigned seed)
      : communicators(std::move(of)), cluster_(std::move(cluster)), network_(seed), seed_(seed) {
    for (const int ranks : cluster_.nodes) {
      for (int i = 0; i < ranks; ++i) place_.push_back({static_cast<int>(nodes_.size()), i});
      nodes_.push_back(std::make_unique<PlayedNode>(ranks, cluster_.room));
    }
    library_calls_.resize(communicators.size());
  }
  int ranks() const { return static_cast<int>(place_.size()); }
  int node_of(int rank) const { return place_[static_cast<std::size_t>(rank)].node; }
  bool is_leader(int rank) const { return place_[static_cast<std::size_t>(rank)].rank == 0; }

  /// One of its ranks, in a thread of its own.
  class Rank {
   public:
    Rank(Machine& machine, int rank)
        : dice(machine.seed_ * 1000 + static_cast<unsigned>(rank)),
          machine_(machine),
          rank_(rank),
          messages_(machine.network_, rank),
          world_(machine.network_, -1, rank, machine.ranks()),
          groups_(machine.communicators.size()) {
      Broadcasting chosen;
      chosen.on = machine.nodes_.size() > 1;
      chosen.node = machine.node_of(rank);
      chosen.settings = {.policy = machine.cluster_.policy, .every = 3, .threshold = 20'000, .decision = {}};
      chosen.compares = machine.cluster_.compares;
      chosen.may_leave_to_library = machine.cluster_.may_leave;
      account.open(true);
      engine_.emplace(chosen, account, library_);
      if (chosen.on) engine_->use_trees(messages_, world_);
      for (std::size_t c = 0; c < groups_.size(); ++c) open(c);
    }
    ~Rank() {
      engine_.reset();  // which knows groups that have trees
    }
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    int rank() const { return rank_; }
    bool is_member(std::size_t c) const { return groups_[c] != nullptr; }
    int rank_in(std::size_t c) const { return groups_[c]->rank; }
    void free(std::size_t c) {
      engine_->remove_group(*groups_[c]);
      groups_[c].reset();
    }

    /// As the wrapper of MPI_Bcast does it.
    Outcome broadcast(std::size_t c, Buffer& buffer, int root) {
      Group& group = *groups_[c];
      if (!takes_broadcast(group, *exchanges_[c])) {
        note_left_broadcast(group);
        by_library(c, buffer, root);
        return Outcome::done;
      }
      PlayedCall call(library_, machine_.network_, rank_);
      const LibraryTimer timer(group, call);
      const Outcome outcome = collectives::broadcast(group, buffer, root, call);
      if (outcome == Outcome::library) by_library(c, buffer, root);
      if (call.arrived != 1) ++machine_.miscounted;
      return outcome == Outcome::library ? Outcome::done : outcome;
    }
    /// Nothing if it is the library's.
    std::optional<Outcome> scatter(std::size_t c, const Scattered& buffers, int root) {
      Group& group = *groups_[c];
      if (!takes_scatter(group)) return std::nullopt;
      PlayedCall call(library_, machine_.network_, rank_);
      const LibraryTimer timer(group, call);
      const Outcome outcome = collectives::scatter(group, buffers, root, call);
      return outcome == Outcome::library ? std::nullopt : std::optional(outcome);
    }

    Random dice;
    Account account;

   private:
    void open(std::size_t c) {
      const std::vector<int>& members = machine_.communicators[c].members;
      const auto mine = std::ranges::find(members, rank_);
      if (mine == members.end()) return;
      auto group = std::make_unique<Group>();
      group->rank = static_cast<int>(mine - members.begin());
      group->size = static_cast<int>(members.size());
      group->world_ranks = members;
      std::vector<int> on_node;
      for (const int member : members) {
        const Place& place = machine_.place_[static_cast<std::size_t>(member)];
        on_node.push_back(place.node == machine_.node_of(rank_) ? place.rank : -1);
      }
      group->local_members = group->size - static_cast<int>(std::ranges::count(on_node, -1));
      const Place& me = machine_.place_[static_cast<std::size_t>(rank_)];
      PlayedNode& node = *machine_.nodes_[static_cast<std::size_t>(me.node)];
      engine_->add_group(*group, group->local_members > 1 ? node.boards[static_cast<std::size_t>(me.rank)]->open(
                                                                static_cast<int>(c), on_node)
                                                          : nullptr);
      exchanges_.resize(groups_.size());
      exchanges_[c].emplace(machine_.network_, static_cast<int>(c), group->rank, group->size);
      groups_[c] = std::move(group);
    }
    /// The MPI library's own, in which the ranks meet in the order of their calls.
    void by_library(std::size_t c, Buffer& buffer, int root) {
      const std::uint64_t number = library_calls_[c]++;
      ++machine_.by_library;
      std::unique_lock lock(machine_.library_mutex_);
      auto& given = machine_.library_calls_[c][number];
      if (groups_[c]->rank == root) {
        given.assign(buffer.bytes(), 0);
        buffer.give(given.data(), 0, buffer.bytes());
        given.push_back(1);  // it is here
        return;
      }
      while (given.empty()) {
        lock.unlock();
        machine_.network_.watch("the library's broadcast", rank_);
        std::this_thread::yield();
        lock.lock();
      }
      if (given.size() == buffer.bytes() + 1) buffer.take(given.data(), 0, buffer.bytes());
    }

    Machine& machine_;
    int rank_;
    NoLibrary library_;
    port::PlayedMessages messages_;
    port::PlayedExchange world_;
    std::vector<std::unique_ptr<Group>> groups_;  // by communicator
    std::vector<std::optional<port::PlayedExchange>> exchanges_;
    std::map<std::size_t, std::uint64_t> library_calls_;
    std::optional<Engine> engine_;
  };

  void run(const std::function<void(Rank&)>& program) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks(); ++rank) {
      threads.emplace_back([&, rank] {
        Rank self(*this, rank);
        program(self);
        const observe::Broadcasts noted = self.account.of(Operation::broadcast, 0.95);
        shared += noted.shared;
        tree += noted.tree;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<Communicator> communicators;
  std::atomic<long> by_library{0}, miscounted{0};
  std::atomic<long> shared{0}, tree{0};  // broadcasts at a rank, as their accounts say

 private:
  struct Place {
    int node, rank;
  };
  Cluster cluster_;
  port::PlayedNetwork network_;
  unsigned seed_;
  std::vector<std::unique_ptr<PlayedNode>> nodes_;
  std::vector<Place> place_;  // by world rank
  std::mutex library_mutex_;
  std::vector<std::map<std::uint64_t, std::vector<char>>> library_calls_;  // by communicator and number
};

std::vector<int> all_ranks(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// The world, the world in another order, and parts of it.
std::vector<Communicator> communicators_of(int ranks, unsigned seed, std::size_t count) {
  Random dice(seed);
  std::vector<Communicator> made{{all_ranks(ranks)}};
  while (made.size() < count) {
    std::vector<int> members = all_ranks(ranks);
    std::shuffle(members.begin(), members.end(), dice);
    if (made.size() > 1) members.resize(1 + dice() % members.size());
    made.push_back({members});
  }
  return made;
}

enum class Late { none, root, leaders, any };

/// Broadcasts of all lengths on all communicators, from all roots. `late`: the ranks that are late.
void play(const Cluster& cluster, Late late, int calls, unsigned seed, long* by_tree = nullptr) {
  SCOPED_TRACE(testing::Message() << "nodes " << testing::PrintToString(cluster.nodes) << ", policy "
                                  << static_cast<int>(cluster.policy) << ", compares " << cluster.compares << ", late "
                                  << static_cast<int>(late) << ", seed " << seed);
  const int ranks = std::accumulate(cluster.nodes.begin(), cluster.nodes.end(), 0);
  Machine machine(cluster, communicators_of(ranks, seed, 5), seed);
  std::atomic<long> wrong{0};
  machine.run([&](Machine::Rank& self) {
    Random same(seed);  // drawn alike at every rank
    for (unsigned call = 0; call < static_cast<unsigned>(base::sanitized ? calls / 4 : calls); ++call) {
      const std::size_t lengths[] = {
          0, 1, 8, Notice::kSmall, Notice::kSmall + 1, port::kEager - 100, port::kEager, 70000, 300'000, 1 << 20, 3};
      const std::size_t c = same() % 3 == 0 ? same() % machine.communicators.size() : 0;
      const std::vector<int>& members = machine.communicators[c].members;
      const std::size_t bytes = lengths[same() % (same() % 4 == 0 ? 11 : 6)];
      const int root = static_cast<int>(same() % (same() % 3 == 0 ? members.size() : 1));
      if (!self.is_member(c)) continue;
      const bool is_root = self.rank_in(c) == root;
      const bool comes_late = late == Late::root      ? is_root
                              : late == Late::leaders ? machine.is_leader(self.rank()) && !is_root
                                                      : late == Late::any && self.dice() % 4 == 0;
      if (comes_late) std::this_thread::sleep_for(std::chrono::microseconds(self.dice() % 200));
      Buffer buffer(bytes, self.dice() % 4 == 0);
      if (is_root) buffer.fill(call);
      if (self.broadcast(c, buffer, root) != Outcome::done || !buffer.has(call, bytes)) ++wrong;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(machine.miscounted.load(), 0);
  if (by_tree != nullptr) *by_tree += machine.tree.load();
}

using Shapes = std::vector<std::vector<int>>;  // ranks of each node
const Shapes kShapes = base::sanitized ? Shapes{{3}, {1, 1, 1}, {3, 1, 2}}
                                       : Shapes{{1}, {2}, {5}, {1, 1}, {1, 1, 1, 1, 1}, {2, 2}, {3, 1, 2}, {1, 6}};

TEST(Engine, DeliversAllLengthsOnAllCommunicatorsWhoeverIsLate) {
  unsigned seed = 1;
  for (const std::vector<int>& nodes : kShapes) {
    for (const Late late : {Late::none, Late::root, Late::leaders, Late::any}) {
      for (const Policy policy : {Policy::sort, Policy::swap, Policy::soga}) {
        long by_tree = 0;
        play({.nodes = nodes, .policy = policy, .may_leave = false}, late, 60, ++seed, &by_tree);
        EXPECT_EQ(by_tree > 0, nodes.size() > 1);
      }
    }
  }
}

TEST(Engine, AgreesAtEveryRankOnWhatTheLibraryHas) {
  unsigned seed = 1000;
  for (const std::vector<int>& nodes : kShapes) {
    for (const Late late : {Late::none, Late::any}) {
      play({.nodes = nodes, .compares = true}, late, 300, ++seed);
      play({.nodes = nodes}, late, 100, ++seed);
    }
  }
}

TEST(Engine, NeedsNoSharedMemoryForTheData) {
  unsigned seed = 2000;
  for (const std::vector<int>& nodes : kShapes) {
    play({.nodes = nodes, .may_leave = false, .room = false}, Late::any, 60, ++seed);
  }
}

TEST(Engine, CountsThePlansOfSogasOptimiser) {
  for (const bool is_root_again : {true, false}) {
    // The third broadcast makes the tree.
    Machine machine({.nodes = {2, 2, 1}, .policy = Policy::soga, .may_leave = false}, {{all_ranks(5)}}, 11);
    observe::Tree told;
    machine.run([&](Machine::Rank& self) {
      for (unsigned call = 0; call < 22; ++call) {
        Buffer buffer(100, false);
        const int root = call < 2 ? 0 : call == 2 || is_root_again ? 3 : 1;
        if (self.rank() == root) buffer.fill(call);
        self.broadcast(0, buffer, root);
      }
      self.free(0);
      if (self.rank() == 0) told = self.account.trees().at(0);
    });
    EXPECT_EQ(told.optimiser, 3) << "no leader, but the root of the first";
    EXPECT_EQ(told.broadcasts, 20);
    EXPECT_EQ(told.plans, is_root_again ? 6 : 0);
    EXPECT_LE(told.changes, told.plans);
  }
}

TEST(Engine, OutlivesCommunicatorsWhoseMessagesAreUnderWay) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::vector<Communicator> communicators;
    for (int i = 0; i < 12; ++i) communicators.push_back({all_ranks(5)});
    Machine machine({.nodes = {2, 1, 2}, .may_leave = false}, communicators, seed);
    std::atomic<long> wrong{0};
    machine.run([&](Machine::Rank& self) {
      for (std::size_t c = 0; c < communicators.size(); ++c) {
        for (unsigned call = 0; call < 8; ++call) {
          const int root = static_cast<int>((call + c) % 2);
          Buffer buffer(100 + call, false);
          if (self.rank() == root) buffer.fill(call);
          if (self.dice() % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
          if (self.broadcast(c, buffer, root) != Outcome::done || !buffer.has(call, buffer.bytes())) ++wrong;
        }
        if (c % 3 != 0) self.free(c);  // the others at the end
      }
    });
    EXPECT_EQ(wrong.load(), 0) << seed;
  }
}

TEST(Engine, TellsOfMistakesOfTheProgramAndGoesOn) {
  for (const std::vector<int>& nodes : {std::vector<int>{3}, std::vector<int>{1, 2}}) {
    Machine machine({.nodes = nodes, .may_leave = false}, {{all_ranks(3)}}, 7);
    std::atomic<int> wrong{0};
    machine.run([&](Machine::Rank& self) {
      const auto outcome_of = [&](unsigned call, std::size_t bytes, int root) {
        Buffer buffer(bytes, false);
        if (self.rank() == root) buffer.fill(call);
        const Outcome outcome = self.broadcast(0, buffer, root);
        if (outcome == Outcome::done && !buffer.has(call, bytes)) ++wrong;
        return outcome;
      };
      const bool last = self.rank() == 2;
      for (unsigned call = 0; call < 4; ++call) outcome_of(call, 10, 0);
      if (outcome_of(4, last ? 5 : 10, 0) != (last ? Outcome::truncated : Outcome::done)) ++wrong;
      if (outcome_of(5, 10, 0) != Outcome::done) ++wrong;
      if (outcome_of(6, last ? 20 : 10, 0) != (last ? Outcome::fewer : Outcome::done)) ++wrong;
      if (outcome_of(7, 10, 0) != Outcome::done) ++wrong;
      // On one node a wrong root is noticed, too.
      if (nodes.size() > 1) return;
      if (outcome_of(8, 10, last ? 1 : 0) != (last ? Outcome::wrong_root : Outcome::done)) ++wrong;
      if (outcome_of(9, 10, 1) != Outcome::done) ++wrong;
    });
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST(Engine, ScattersBlocksOfAllLengths) {
  for (const int ranks : {1, 2, 3, 6}) {
    Machine machine({.nodes = {ranks}}, {{all_ranks(ranks)}}, static_cast<unsigned>(ranks));
    std::atomic<int> wrong{0};
    machine.run([&](Machine::Rank& self) {
      Random same(5);
      for (unsigned call = 0; call < (base::sanitized ? 40U : 150U); ++call) {
        const std::size_t lengths[] = {0, 1, 100, 900, 30'000, 200'000};
        const std::size_t bytes = lengths[same() % 6];
        const int root = static_cast<int>(same() % static_cast<unsigned>(ranks));
        const bool keeps = same() % 4 == 0 && self.rank() == root;
        if (self.dice() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(self.dice() % 200));
        const bool gaps = self.dice() % 4 == 0;
        Buffer mine(keeps ? 0 : bytes, self.dice() % 4 == 0), block(bytes, gaps);
        Buffer all(bytes * static_cast<std::size_t>(ranks), gaps);
        if (self.rank() == root) all.fill(call);
        const auto outcome = self.scatter(0, {mine, keeps, &block, &all}, root);
        if (ranks == 1) {
          if (outcome) ++wrong;
          continue;
        }
        if (outcome != Outcome::done) ++wrong;
        if (!keeps && !mine.has(call, bytes, bytes * static_cast<std::size_t>(self.rank()))) ++wrong;
      }
    });
    EXPECT_EQ(wrong.load(), 0) << ranks;
  }
}

}  // namespace
}  // namespace steelyard::collectives

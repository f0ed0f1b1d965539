// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <random>

#include "base/clock.h"
#include "cores/cores.h"
#include "node/segment.h"

namespace steelyard::cores {
namespace {

/// A node whose processes are played by this program. On an emulated node, or with slots, no thread is bound.
struct PlayedNode {
  PlayedNode(int cores, int count, int owned, bool emulated = true)
      : processes(static_cast<std::size_t>(count)), activities(processes.size()) {
    node::Topology topology;
    topology.emulated = emulated;
    node::CpuSet mask;
    for (int c = 0; c < cores; ++c) {
      topology.pus.push_back({c, c, 0, 0, 0});
      mask.add(c);
    }
    std::vector<Arrival> arrivals;
    for (int p = 0; p < count; ++p) {
      processes[p].thread_ceiling.store(cores);
      processes[p].world_rank = p;
      arrivals.push_back({mask, owned, true, p});
    }
    const std::size_t bytes = Cores::footprint(cores, count);
    memory.resize(bytes + 64);
    void* place = memory.data();
    std::size_t space = memory.size();
    std::align(64, bytes, place, space);
    for (int p = 0; p < count; ++p) {
      segments.push_back(node::Segment::over(place, bytes));
      all.push_back(
          std::make_unique<Cores>(*segments.back(), processes.data(), count, p, topology, activities[p], Options{}));
      all.back()->settle_owners(share_out(topology, arrivals), p == 0);
    }
    for (int p = 0; p < count; ++p) {
      all[p]->begin();
      activities[p].start(base::now_ns(), owned);
    }
  }
  std::vector<unsigned char> memory;
  std::vector<node::Process> processes;
  std::vector<observe::Activity> activities;
  std::vector<std::unique_ptr<node::Segment>> segments;
  std::vector<std::unique_ptr<Cores>> all;
};

/// What a process does next: regions of any team, waits, calls of steelyard/cores.h.
class Player {
 public:
  Player(PlayedNode& node, int me, std::mt19937& random)
      : cores_(*node.all[me]), activity_(node.activities[me]), random_(random) {}

  void act() {
    const std::int64_t now = base::now_ns();
    if (team_ > 0) return end_region(now);
    if (waits_) {
      waits_ = false;
      activity_.lent((now - asleep_since_) * cores_.lent_in_waits());
      cores_.come_back();
      return activity_.leave_mpi(base::now_ns());
    }
    const bool moves = cores_.immovable_reason().empty();
    switch (moves ? random_() % 8 : 4 + random_() % 4) {
      case 0: cores_.offer(1, now); break;
      case 1: cores_.reclaim(now); break;
      case 2: cores_.acquire(2, {.until = INT64_MAX}); break;
      case 3: cores_.release(now); break;
      case 4:
      case 5: begin_wait(now); break;
      default: begin_region(now);
    }
  }
  /// As in MPI_Finalize.
  void end() {
    while (team_ > 0 || waits_) act();
    cores_.before_call(base::now_ns());
  }

 private:
  void begin_wait(std::int64_t now) {
    activity_.enter_mpi(now);
    cores_.before_call(now);
    asleep_since_ = base::now_ns();
    cores_.lend(asleep_since_, {.until = INT64_MAX});
    waits_ = true;
  }
  void begin_region(std::int64_t now) {
    const int threads = cores_.threads_for_region(
        {.key = 1, .begin = now, .worth_borrowing = random_() % 4 != 0, .terms = {.until = now}});
    activity_.own(cores_.owned());
    // The program's count instead, which may be more or less than the cores that are held.
    team_ = random_() % 3 == 0 ? 1 + static_cast<int>(random_() % 8) : std::max(1, threads);
    activity_.region_begin(now, team_);
    for (int t = 0; t < team_; ++t) observe::Activity::thread_begin(*activity_.cell(t), now);
  }
  void end_region(std::int64_t now) {
    for (int t = 0; t < team_; ++t) observe::Activity::barrier_begin(*activity_.cell(t), now);
    activity_.region_end(now, team_, cores_.after_region(now, team_, activity_));
    team_ = 0;
  }

  Cores& cores_;
  observe::Activity& activity_;
  std::mt19937& random_;
  int team_ = 0;
  bool waits_ = false;
  std::int64_t asleep_since_ = 0;
};

/// Process 1 acquires a core, makes `call` 1 ms later, and returns the core after 5 ms: all of that time must count.
void expect_counted_across(const std::function<void(Cores& cores, std::int64_t now)>& call) {
  PlayedNode node(4, 2, 2);
  node.all[0]->offer(1, base::now_ns());
  Cores& cores = *node.all[1];
  const std::int64_t before = base::now_ns();
  ASSERT_EQ(cores.acquire(2, {.until = INT64_MAX}), 1);
  const std::int64_t after = base::now_ns();
  call(cores, after + 1'000'000);
  ASSERT_EQ(cores.borrowed(), 1);
  cores.release(after + 5'000'000);
  const std::int64_t borrowed = node.activities[1].totals_at(after + 5'000'000).borrowed;
  EXPECT_GE(borrowed, 5'000'000);
  EXPECT_LE(borrowed, after - before + 5'000'000);
  EXPECT_EQ(cores.borrowed_from()[0], borrowed);
}

TEST(Account, AcquiredCoresCountAcrossOtherCalls) {
  expect_counted_across([](Cores& cores, std::int64_t now) { cores.offer(1, now); });
  expect_counted_across([](Cores& cores, std::int64_t now) { cores.reclaim(now); });
  expect_counted_across([](Cores& cores, std::int64_t now) { cores.keep_only(cores.poll(), now); });
}

TEST(Account, CoresBorrowedByARegionAreNotAcquired) {
  PlayedNode node(4, 2, 2);
  node.all[0]->offer(1, base::now_ns());
  Cores& cores = *node.all[1];
  const std::int64_t begin = base::now_ns();
  ASSERT_EQ(cores.threads_for_region({.key = 1, .begin = begin, .worth_borrowing = true, .terms = {.until = begin}}),
            3);
  const std::int64_t end = base::now_ns();
  const std::int64_t in_region = cores.after_region(end, 3, node.activities[1]).borrowed;
  ASSERT_EQ(cores.borrowed(), 1);
  cores.offer(1, end);
  cores.reclaim(end + 1'000'000);
  cores.release(end + 5'000'000);
  EXPECT_EQ(cores.borrowed_from()[0], in_region);
  EXPECT_EQ(node.activities[1].totals_at(end + 5'000'000).borrowed, 0) << "the session adds the region's";
}

std::string reason_without_moves(PlayedNode& node) {
  observe::NodeRecord record;
  std::vector<observe::DecisionRecord> decisions;
  node.all[0]->report(record, decisions);
  return record.nothing_moved;
}

TEST(Report, AsksForNoStepsWhereNoCoreCanMove) {
  PlayedNode of_single_cores(3, 2, 1);
  EXPECT_EQ(
      reason_without_moves(of_single_cores),
      "each rank has one core, so no rank can give a core away; the node has 3 cores for 2 ranks: start fewer ranks "
      "or use a wider CPU binding, then set OMP_NUM_THREADS to the number of cores per rank")
      << "two threads a rank would share cores";
  PlayedNode with_free_cores(4, 2, 1);
  EXPECT_EQ(reason_without_moves(with_free_cores),
            "each rank has one core, so no rank can give a core away; start ranks with several cores and threads each "
            "(OMP_NUM_THREADS)");
  for (node::Process& process : of_single_cores.processes) process.fixed.store(1);
  EXPECT_THAT(reason_without_moves(of_single_cores), testing::StartsWith("each rank has one core"))
      << "no change of the program would let a core move";
  PlayedNode node(4, 2, 2);
  EXPECT_THAT(reason_without_moves(node), testing::HasSubstr("call steelyard_step()"));
  for (node::Process& process : node.processes) process.fixed.store(1);
  EXPECT_EQ(reason_without_moves(node), "all thread counts are fixed");
}

TEST(Report, SaysThatThereAreNoThreadsForFurtherCores) {
  for (const int threads : {1, 2}) {
    PlayedNode node(2 * threads, 2, threads);
    for (node::Process& process : node.processes) process.no_openmp.store(1);
    EXPECT_EQ(reason_without_moves(node), observe::kNoOpenMp) << threads;
    node.processes[1].no_openmp.store(0);
    EXPECT_NE(reason_without_moves(node), observe::kNoOpenMp) << "the program may load it later";
  }
  PlayedNode oversubscribed(2, 2, 2);
  EXPECT_THAT(reason_without_moves(oversubscribed), testing::StartsWith("more threads than cores"));
  for (node::Process& process : oversubscribed.processes) process.no_openmp.store(1);
  EXPECT_EQ(reason_without_moves(oversubscribed), observe::kNoOpenMp) << "fewer threads would change nothing";
}

/// The ticks of all processes of a node.
struct Ticks {
  explicit Ticks(int count) {
    const std::size_t bytes = observe::TickBoard::footprint(count);
    memory.resize(bytes + 64);
    std::size_t space = memory.size();
    void* place = memory.data();
    std::align(64, bytes, place, space);
    for (int p = 0; p < count; ++p) {
      segments.push_back(node::Segment::over(place, bytes));
      boards.emplace_back(*segments.back(), count, p);
    }
  }
  std::vector<char> memory;
  std::vector<std::unique_ptr<node::Segment>> segments;
  std::vector<observe::TickBoard> boards;
};

TEST(Report, MovesThatWereTakenBackAreNoneThatTheRunHas) {
  constexpr std::int64_t kStep = 50'000'000;  // ns
  PlayedNode node(4, 2, 2);
  Ticks ticks(2);
  const auto moved = [&] {
    return std::ranges::count(node.all[0]->decisions(), observe::Outcome::taken, &observe::DecisionRecord::outcome) > 0;
  };
  for (std::int64_t step = 1; step <= 400 && !moved(); ++step) {
    for (int p = 0; p < 2; ++p) {
      const std::int64_t wall = p == 0 ? kStep * 9 / 10 : kStep / 10;
      ticks.boards[static_cast<std::size_t>(p)].publish(observe::TickSource::step, {.time = step * kStep,
                                                                                    .region_useful = step * 2 * wall,
                                                                                    .region_wall = step * wall,
                                                                                    .mpi = step * (kStep - wall),
                                                                                    .threads = 2});
    }
    node.all[0]->consider(ticks.boards[0], observe::TickSource::step, 1, 0);
  }
  ASSERT_TRUE(moved());
  EXPECT_EQ(reason_without_moves(node), "");
  node.processes[0].fixed.store(1);
  node.all[0]->consider(ticks.boards[0], observe::TickSource::step, 1, 0);
  EXPECT_EQ(reason_without_moves(node), "the thread count of rank 0 must not change any more");
}

TEST(Report, DoesNotRepeatThatOpenMpWasMissingOnceItIsLoaded) {
  for (const int threads : {1, 2}) {
    PlayedNode node(2 * threads, 2, threads);
    for (node::Process& process : node.processes) process.no_openmp.store(1);
    Ticks ticks(2);
    for (int step = 1; step <= 100; ++step) {
      for (observe::TickBoard& board : ticks.boards)
        board.publish(observe::TickSource::step, {.time = std::int64_t{step} * 50'000'000, .threads = threads});
      node.all[0]->consider(ticks.boards[0], observe::TickSource::step, 1, 0);
    }
    ASSERT_EQ(reason_without_moves(node), observe::kNoOpenMp);
    for (node::Process& process : node.processes) process.no_openmp.store(0);
    EXPECT_THAT(reason_without_moves(node),
                testing::StartsWith(threads == 1 ? "each rank has one core" : "the run ended"));
  }
}

TEST(Slots, OneIsBorrowedWhileACoreIsFree) {
  PlayedNode node(2, 3, 1);
  ASSERT_NE(node.all[0]->immovable_reason(), "");
  const auto threads = [&] {
    const std::int64_t now = base::now_ns();
    const int count = node.all[0]->threads_for_region(
        {.key = 1, .begin = now, .worth_borrowing = true, .own_length = 1e6, .terms = {.until = now}});
    node.all[0]->after_region(base::now_ns(), std::max(1, count), node.activities[0]);
    return count;
  };
  node.all[1]->lend(base::now_ns(), {.until = INT64_MAX});
  EXPECT_EQ(threads(), 0) << "the program's own count: process 2 uses the other core";
  node.all[2]->lend(base::now_ns(), {.until = INT64_MAX});
  EXPECT_EQ(threads(), 2);
  EXPECT_EQ(threads(), 2);
  node.all[1]->come_back();
  EXPECT_EQ(threads(), 0);
  EXPECT_EQ(node.all[0]->owned(), node.processes[0].threads_at_start);
}

/// Two cores, three processes. Both others wait from the middle of process 0's only region on, if `they_wait`.
/// @return how many of 100 such regions begin with two threads, which take `with_two` ms instead of 10
int late_joins_in_slots(bool they_wait, std::int64_t with_two, bool emulated = false) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  PlayedNode node(2, 3, 1, emulated);
  std::int64_t now = base::now_ns(), borrowed = 0;
  int joined = 0;
  for (int step = 0; step < 100; ++step) {
    const int threads =
        node.all[0]->threads_for_region({.key = 1, .begin = now, .worth_borrowing = true, .terms = {.until = now}});
    const std::int64_t end = now + (threads == 2 ? with_two : 10) * kMillisecond;
    for (int other : {1, 2}) {
      if (they_wait) node.all[other]->lend(now + other * kMillisecond, {.until = INT64_MAX});
    }
    const observe::TeamCores cores = node.all[0]->after_region(end, std::max(1, threads), node.activities[0]);
    EXPECT_EQ(cores.came_late, threads == 2 ? end - now - 2 * kMillisecond : 0) << "one core idles as both wait";
    EXPECT_EQ(cores.borrowed, cores.came_late);
    borrowed += cores.borrowed;
    for (int other : {1, 2}) node.all[other]->come_back();
    joined += threads == 2 ? 1 : 0;
    now = end;
  }
  EXPECT_EQ(node.all[0]->borrowed_from()[2], borrowed) << "of the process that was the last to wait";
  return joined;
}

TEST(Slots, AThreadJoinsLateWhereACoreComesFreeDuringARegion) {
  EXPECT_GT(late_joins_in_slots(true, 6), 80);
  EXPECT_LT(late_joins_in_slots(true, 12), 10) << "it is slower";
  EXPECT_EQ(late_joins_in_slots(false, 6), 0) << "no core comes free";
  EXPECT_EQ(late_joins_in_slots(true, 6, true), 0) << "an emulated thread needs no core to compute";
}

/// @param cores of the node; its processes have 6 threads
void expect_borrowed_cores_to_be_of_others(int cores) {
  constexpr int kCount = 3;
  std::int64_t borrowed_in_all = 0;
  for (unsigned round = 0; round < 200; ++round) {
    std::mt19937 random(round);
    PlayedNode node(cores, kCount, 2);
    std::vector<Player> players;
    for (int p = 0; p < kCount; ++p) players.emplace_back(node, p, random);
    for (int event = 0; event < 300; ++event) {
      players[random() % kCount].act();
      if (random() % 40 == 0) {
        node::CpuSet cpus;
        for (int c = 0; c < cores; ++c) {
          if (random() % 4 != 0) cpus.add(c);
        }
        (void)node.all[0]->resize(cpus, 0, "test");
      }
    }
    observe::RunRecord record;
    std::vector<observe::Contribution> parts(kCount);
    for (int p = 0; p < kCount; ++p) {
      players[p].end();
      observe::RankRecord& rank = parts[p].rank;
      rank.rank = p;
      rank.totals = node.activities[p].totals_at(base::now_ns());
      const std::vector<std::int64_t>& from = node.all[p]->borrowed_from();
      ASSERT_EQ(from[p], 0);
      ASSERT_EQ(std::accumulate(from.begin(), from.end(), std::int64_t{0}), rank.totals.borrowed) << round;
      ASSERT_EQ(rank.totals.capacity, rank.totals.outside_mpi() + rank.totals.mpi_capacity) << round;
      for (int owner = 0; owner < kCount; ++owner) parts[p].borrowed_from[owner] = base::seconds(from[owner]);
    }
    observe::merge(record, std::move(parts));
    std::int64_t lent = 0, borrowed = 0;
    for (const observe::RankRecord& rank : record.ranks) {
      lent += rank.totals.lent;
      borrowed += rank.totals.borrowed;
    }
    ASSERT_LE(borrowed, lent) << round;
    borrowed_in_all += borrowed;
  }
  EXPECT_GT(borrowed_in_all, 0);
}

TEST(Account, WhatIsBorrowedIsOfCoresOfOthers) { expect_borrowed_cores_to_be_of_others(6); }
TEST(Account, WhatIsBorrowedIsOfSlotsOfOthers) { expect_borrowed_cores_to_be_of_others(4); }

}  // namespace
}  // namespace steelyard::cores

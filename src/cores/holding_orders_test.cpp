// SPDX-License-Identifier: BSD-3-Clause
// The rules by which processes take and leave cores, in all interleavings of the core table's atomic operations: no two
// processes use one core, and none counts a core twice.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/explorer.h"
#include "cores/played_node.h"

namespace steelyard::cores {
namespace {

using explorer::Explorer;
using explorer::Outcome;
using explorer::Scenario;

/// A node whose processes run regions on the cores that they hold.
class Regions {
 public:
  Regions(int cores, int processes, const std::vector<int>& owners) : node(cores, processes, owners) {
    for (int c = 0; c < cores; ++c) users_.push_back(std::make_unique<explorer::Atomic<int>>(0));
  }

  /// Process `me` runs a region. What goes wrong is noted.
  void run(int me, bool may_borrow) {
    Holding& holding = *node.holdings[static_cast<std::size_t>(me)];
    holding.find_given();
    holding.settle(static_cast<int>(users_.size()), may_borrow);
    if (holding.shares()) return;
    for (const int core : holding.cores()) {
      if (users_[static_cast<std::size_t>(core)]->fetch_add(1) != 0 && wrong.empty())
        wrong = "core " + std::to_string(core) + " is used twice, once by process " + std::to_string(me);
    }
    for (const int core : holding.cores()) users_[static_cast<std::size_t>(core)]->fetch_sub(1);
    holding.give_back_wanted();
  }

  Node node;
  std::string wrong;

 private:
  std::vector<std::unique_ptr<explorer::Atomic<int>>> users_;  // by core: how often it is in use
};

using Processes = std::vector<std::function<void(Regions&)>>;

void explore(const std::function<std::shared_ptr<Regions>()>& make, const Processes& processes) {
  const Outcome outcome = Explorer().explore(
      [&] {
        const std::shared_ptr<Regions> regions = make();
        Scenario scenario;
        for (const auto& process : processes) scenario.threads.emplace_back([regions, process] { process(*regions); });
        scenario.verdict = [regions] { return regions->wrong; };
        return scenario;
      },
      3'000'000);
  std::string order;
  for (const int process : outcome.schedule) order += " " + std::to_string(process);
  std::printf("  %lu interleavings\n", static_cast<unsigned long>(outcome.runs));
  EXPECT_EQ(outcome.wrong, "") << "in the order of processes" << order;
  EXPECT_TRUE(outcome.complete || !outcome.wrong.empty()) << "too many interleavings";
}

// Process 1 returns a core to process 0, which wants it, while a plan gives it to process 2, which waits.
TEST(HoldingOrders, AFormerOwnerBorrowsNoCoreThatItStillListsAsItsOwn) {
  const auto make = [] {
    auto regions = std::make_shared<Regions>(3, 3, std::vector<int>{0, 0, 2});
    Node& node = regions->node;
    node.holdings[0]->lend_all(1, kLong, true);
    node.holdings[1]->settle(1, true);
    node.holdings[2]->lend_all(1, kLong);
    return regions;
  };
  explore(make, {[](Regions& regions) {
                   regions.node.holdings[0]->come_back();
                   regions.run(0, true);
                   regions.run(0, true);
                 },
                 [](Regions& regions) { regions.node.holdings[1]->release(1); },
                 [](Regions& regions) { regions.node.tables[2]->change_owners({0, 2, 2}); }});
}

// Process 0 passes a core to process 1 while a plan gives it to process 1, too.
TEST(HoldingOrders, ACoreThatIsPassedOnAndGivenByAPlanIsCountedOnce) {
  const auto make = [] {
    auto regions = std::make_shared<Regions>(2, 3, std::vector<int>{0, 0});
    regions->node.holdings[0]->lend_all(1, kLong, true);
    return regions;
  };
  explore(make, {[](Regions& regions) {
                   CoreTable& table = *regions.node.tables[0];
                   if (table.is_own(1) && table.may_borrow(1, 1, 0) && table.take_own(1)) table.hand_to(1, 1, 2);
                   regions.node.holdings[0]->come_back();
                   regions.run(0, true);
                 },
                 [](Regions& regions) {
                   regions.run(1, true);
                   regions.run(1, false);
                 },
                 [](Regions& regions) { regions.node.tables[2]->change_owners({0, 1}); }});
}

// Two processes exchange their cores under a plan, and a third one borrows what they lend.
TEST(HoldingOrders, AnExchangeOfCoresLeavesEachInOneHand) {
  const auto make = [] { return std::make_shared<Regions>(2, 3, std::vector<int>{0, 1}); };
  explore(make, {[](Regions& regions) {
                   regions.node.tables[0]->change_owners({1, 0});
                   regions.run(0, true);
                 },
                 [](Regions& regions) {
                   regions.node.holdings[1]->lend_all(1, kLong);
                   regions.node.holdings[1]->come_back();
                   regions.run(1, true);
                 },
                 [](Regions& regions) { regions.run(2, true); }});
}

}  // namespace
}  // namespace steelyard::cores

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "cores/plan.h"

namespace steelyard::cores {
namespace {

using Held = std::vector<std::vector<int>>;

/// Every assignment of processes to domains that leaves each process a core.
struct Exhaustive {
  const std::vector<int>& wanted;
  const std::vector<int>& capacity;
  const Held& held;
  std::pair<int, int> best{1 << 30, 0};  // missing, moved
  std::vector<int> domain = std::vector<int>(wanted.size(), 0);

  void search(std::size_t p) {
    if (p < wanted.size()) {
      for (domain[p] = 0; domain[p] < static_cast<int>(capacity.size()); ++domain[p]) search(p + 1);
      return;
    }
    const int largest = *std::max_element(capacity.begin(), capacity.end());
    int missing = 0, moved = 0;
    for (std::size_t d = 0; d < capacity.size(); ++d) {
      int asked = 0, count = 0;
      for (std::size_t q = 0; q < wanted.size(); ++q) {
        if (domain[q] != static_cast<int>(d)) continue;
        asked += std::min(wanted[q], largest);
        moved += std::max(0, std::min(wanted[q], largest) - held[q][d]);
        ++count;
      }
      if (count > capacity[d]) return;
      missing += std::max(0, asked - capacity[d]);
    }
    for (int cores : wanted) missing += std::max(0, cores - largest);
    best = std::min(best, {missing, moved});
  }
};

void expect_consistent(const Placement& placement, const std::vector<int>& wanted, std::vector<int> room) {
  int given = 0;
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    EXPECT_GE(placement.threads[p], 1);
    EXPECT_LE(placement.threads[p], wanted[p]);
    given += placement.threads[p];
    room[placement.domain[p]] -= placement.threads[p];
  }
  for (int left : room) EXPECT_GE(left, 0);
  EXPECT_EQ(placement.missing, std::accumulate(wanted.begin(), wanted.end(), 0) - given);
}

TEST(Place, PapersFigureOne) {
  const Held held{{12, 0}, {12, 0}, {0, 12}, {0, 12}};
  const Placement placement = place({14, 9, 13, 12}, {24, 24}, held);
  EXPECT_EQ(placement.missing, 1);
  EXPECT_EQ(placement.domain, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(placement.threads, (std::vector<int>{14, 9, 12, 12}));
}

TEST(Place, StaysWhereItFits) {
  const Held held{{3, 0}, {3, 0}, {0, 3}, {0, 3}};
  const Placement placement = place({2, 4, 3, 3}, {6, 6}, held);
  EXPECT_EQ(placement.missing, 0);
  EXPECT_EQ(placement.moved, 1);
  EXPECT_EQ(placement.domain, (std::vector<int>{0, 0, 1, 1}));
}

TEST(Place, CutsAProcessThatNoDomainHolds) {
  const Placement placement = place({9, 1}, {4, 6}, {{0, 6}, {4, 0}});
  EXPECT_EQ(placement.threads, (std::vector<int>{6, 1}));
  EXPECT_EQ(placement.missing, 3);
}

TEST(Place, NothingToPlace) {
  EXPECT_TRUE(place({}, {4}, {}).domain.empty());
  EXPECT_TRUE(place({1}, {}, {{}}).domain.empty());
}

TEST(Place, EqualsExhaustiveSearch) {
  std::mt19937 random(3);
  for (int round = 0; round < 4000; ++round) {
    const int domains = 1 + static_cast<int>(random() % 4);
    std::vector<int> capacity;
    for (int d = 0; d < domains; ++d) capacity.push_back(round % 3 == 0 ? 6 : static_cast<int>(random() % 9));
    const int cores = std::accumulate(capacity.begin(), capacity.end(), 0);
    if (cores == 0) continue;
    const int n = 1 + static_cast<int>(random()) % std::min(cores, 6);
    std::vector<int> wanted;
    Held held;
    for (int p = 0; p < std::max(1, n); ++p) {
      wanted.push_back(1 + static_cast<int>(random() % 7));
      held.emplace_back(domains, 0);
      if (random() % 5 > 0) held.back()[random() % domains] = static_cast<int>(random() % 5);
      if (random() % 8 == 0) held.back()[random() % domains] = 1;  // spans two
    }
    if (static_cast<int>(wanted.size()) > cores) continue;
    Exhaustive exhaustive{wanted, capacity, held};
    exhaustive.search(0);
    const Placement placement = place(wanted, capacity, held, 1 << 30);
    ASSERT_TRUE(placement.exact);
    ASSERT_EQ(std::pair(placement.missing, placement.moved), exhaustive.best) << "round " << round;
    expect_consistent(placement, wanted, capacity);
  }
}

/// Long enough searches that states recur: the table of seen states must not cost exactness.
TEST(Place, EqualsExhaustiveSearchOnLargerTightCases) {
  std::mt19937 random(4);
  for (int round = 0; round < 25; ++round) {
    const std::vector<int> capacity(round % 2 ? 3 : 2, 12);
    const int n = round % 2 ? 10 : 14;
    std::vector<int> wanted;
    Held held;
    for (int p = 0; p < n; ++p) {
      wanted.push_back(1 + static_cast<int>(random() % (round % 2 ? 7 : 4)));
      held.emplace_back(capacity.size(), 0);
      held.back()[random() % capacity.size()] = static_cast<int>(random() % 4);
    }
    Exhaustive exhaustive{wanted, capacity, held};
    exhaustive.search(0);
    const Placement placement = place(wanted, capacity, held, 1 << 30);
    ASSERT_EQ(std::pair(placement.missing, placement.moved), exhaustive.best) << "round " << round;
    expect_consistent(placement, wanted, capacity);
  }
}

TEST(Place, SaysWhenTheSearchWasCutShort) {
  std::mt19937 random(5);
  std::vector<int> wanted;
  Held held;
  for (int p = 0; p < 64; ++p) {
    wanted.push_back(2 + static_cast<int>(random() % 9));
    held.emplace_back(8, 0);
    held.back()[p / 8] = 6;
  }
  const Placement placement = place(wanted, std::vector<int>(8, 48), held, 500);
  EXPECT_FALSE(placement.exact);
  expect_consistent(placement, wanted, std::vector<int>(8, 48));
  EXPECT_LE(placement.missing, std::max(0, std::accumulate(wanted.begin(), wanted.end(), 0) - 8 * 48) + 2);
}

}  // namespace
}  // namespace steelyard::cores

#include "cores/borrowing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace steelyard::cores {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A process that runs one region after the other, on own cores and, while Borrowing allows it, on borrowed ones, where it
/// gets a part of the CPU's time. The loop's iterations are divided evenly.
struct Process {
  int own = 1;
  int offered = 1;
  std::int64_t work = 10 * kMs;  // thread time of a region
  bool statistics = true;        // the kernel has them
  Borrowing borrowing = {};
  std::int64_t now = 0;
  std::int64_t in_borrowed_regions = 0;

  // Returns the length of the region.
  std::int64_t run(double share_of_core) {
    if (!borrowing.allowed(now)) {
      now += work / own;
      return work / own;
    }
    const bool measured = statistics && borrowing.wants_measurement(now);
    const std::int64_t part = work / (own + offered);
    const auto slow = static_cast<std::int64_t>(static_cast<double>(part) / share_of_core);
    std::vector<std::int64_t> busy(static_cast<std::size_t>(own), part);
    busy.insert(busy.end(), static_cast<std::size_t>(offered), slow);
    const BorrowedRegion region{.busy = busy, .borrowed = offered, .wall = slow, .delay = measured ? slow - part : -1};
    now += slow;
    in_borrowed_regions += slow;
    borrowing.learn(region, now);
    return slow;
  }
};

TEST(Borrowing, GoesOnWhereThreadsHaveTheirCores) {
  Process process{.own = 4, .offered = 3};
  for (int i = 0; i < 1000; ++i) process.run(1);
  EXPECT_EQ(process.borrowing.pauses(), 0);
  EXPECT_EQ(process.in_borrowed_regions, process.now);
}

// Half of a second core for one thread: as long as on one core. Less: longer.
TEST(Borrowing, GoesOnWhereAPartOfACoreIsStillAGain) {
  Process process;
  for (int i = 0; i < 1000; ++i) process.run(0.55);
  EXPECT_EQ(process.borrowing.pauses(), 0);
}

class Starved : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Starved, LosesNextToNothing) {
  const auto [own, offered] = GetParam();
  Process process{.own = own, .offered = offered, .work = own * 10 * kMs};
  std::int64_t wall = 0;
  constexpr int kRegions = 3000;
  for (int i = 0; i < kRegions; ++i) wall += process.run(0.25);
  EXPECT_GT(process.borrowing.pauses(), 1);
  EXPECT_NEAR(process.borrowing.share_of_core(), 0.25, 0.01);
  EXPECT_LT(static_cast<double>(wall), 1.02 * kRegions * 10 * kMs);
}

INSTANTIATE_TEST_SUITE_P(Teams, Starved,
                         testing::Values(std::pair{1, 1}, std::pair{4, 1}, std::pair{4, 4}, std::pair{16, 8}));

TEST(Borrowing, BeginsAgainWhenTheCoresAreFree) {
  Process process;
  for (int i = 0; i < 50; ++i) process.run(0.2);
  EXPECT_GT(process.borrowing.pauses(), 0);
  for (int i = 0; i < 1000; ++i) process.run(1);
  const int pauses = process.borrowing.pauses();
  process.in_borrowed_regions = process.now = 0;
  process = {.borrowing = process.borrowing, .now = 100'000 * kMs};
  const std::int64_t begin = process.now;
  for (int i = 0; i < 100; ++i) process.run(1);
  EXPECT_EQ(process.in_borrowed_regions, process.now - begin);
  EXPECT_EQ(process.borrowing.pauses(), pauses);
}

// One region in fifty is held up for 10 ms.
TEST(Borrowing, BearsASingleDelay) {
  Process process;
  for (int i = 0; i < 1000; ++i) process.run(i % 50 == 49 ? 0.3 : 1);
  EXPECT_EQ(process.borrowing.pauses(), 0);
}

// The last thread has ten times the iterations of the others: its own cores would take as long for them.
TEST(Borrowing, DoesNotTakeALoopThatIsUnevenForADelay) {
  Borrowing borrowing = {};
  std::int64_t now = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool measured = borrowing.wants_measurement(now);
    now += 10 * kMs;
    borrowing.learn({.busy = {kMs, 10 * kMs}, .borrowed = 1, .wall = 10 * kMs, .delay = measured ? 0 : -1}, now);
  }
  EXPECT_EQ(borrowing.pauses(), 0);
}

TEST(Borrowing, IsNeverStoppedWithoutAMeasurement) {
  Process process{.statistics = false};
  for (int i = 0; i < 1000; ++i) process.run(0.1);
  EXPECT_EQ(process.borrowing.pauses(), 0);
}

}  // namespace
}  // namespace steelyard::cores

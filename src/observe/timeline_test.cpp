// SPDX-License-Identifier: BSD-3-Clause
#include "observe/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace steelyard::observe {
namespace {

Sample nth(int i) { return {double(i), double(i + 1), 1.0 + i % 3, 0.5, 0.25, i % 7, 0.125, 0.0625}; }

struct Sums {
  double useful = 0, omp_wait = 0, mpi_wait = 0;
  explicit Sums(const std::vector<Sample>& samples) {
    for (const Sample& s : samples) {
      useful += s.useful;
      omp_wait += s.omp_wait;
      mpi_wait += s.mpi_wait;
    }
  }
};

TEST(Timeline, KeepsEverythingWhileThereIsRoom) {
  Timeline timeline(8);
  EXPECT_TRUE(timeline.samples().empty());
  for (int i = 0; i < 8; ++i) timeline.add(nth(i));
  ASSERT_EQ(timeline.samples().size(), 8u);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(timeline.samples()[i].useful, nth(i).useful);
}

TEST(Timeline, MergesNeighboursWhenFull) {
  Timeline timeline(4);
  for (int i = 0; i < 5; ++i) timeline.add(nth(i));
  const std::vector<Sample>& s = timeline.samples();
  ASSERT_EQ(s.size(), 3u);
  EXPECT_EQ(s[0].start, 0);
  EXPECT_EQ(s[0].end, 2);
  EXPECT_EQ(s[0].threads, 1) << "that of the later half";
  EXPECT_EQ(s[2].start, 4);
  timeline.add(nth(5));
  EXPECT_EQ(s.size(), 3u) << "two samples go into one now";
  EXPECT_EQ(s[2].end, 6);
}

TEST(Timeline, KeepsNothingIfNoSampleIsAllowed) {
  for (const int most : {-3, 0}) {
    Timeline timeline(most);
    for (int i = 0; i < 5; ++i) timeline.add(nth(i));
    EXPECT_TRUE(timeline.samples().empty()) << most;
  }
}

TEST(Timeline, BoundedCompleteAndInOrderForAnyLength) {
  for (const int most : {1, 2, 3, 7, 64, 101}) {
    Timeline timeline(most);
    std::vector<Sample> all;
    const Sample* const memory = timeline.samples().data();
    for (int i = 0; i < 3000; ++i) {
      all.push_back(nth(i));
      timeline.add(all.back());
      const std::vector<Sample>& kept = timeline.samples();
      ASSERT_LE(kept.size(), static_cast<std::size_t>(std::max(most, 2)));
      ASSERT_GE(4 * kept.size(), std::min<std::size_t>(all.size(), static_cast<std::size_t>(std::max(most, 2)) / 2))
          << "keeps as much as it can";
      if (i % 97 != 0) continue;
      ASSERT_EQ(kept.front().start, 0);
      ASSERT_EQ(kept.back().end, i + 1);
      for (std::size_t k = 1; k < kept.size(); ++k) ASSERT_EQ(kept[k].start, kept[k - 1].end);
      ASSERT_EQ(Sums(kept).useful, Sums(all).useful);
      ASSERT_EQ(Sums(kept).omp_wait, Sums(all).omp_wait);
      ASSERT_EQ(Sums(kept).mpi_wait, Sums(all).mpi_wait);
    }
    EXPECT_EQ(timeline.samples().data(), memory) << "allocated anew";
  }
}

}  // namespace
}  // namespace steelyard::observe

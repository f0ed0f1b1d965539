// SPDX-License-Identifier: BSD-3-Clause
#include "base/complaint.h"

#include <gtest/gtest.h>

namespace steelyard::base {
namespace {

TEST(Complaints, BecomeRare) {
  constexpr std::int64_t kMinute = 60'000'000'000;
  std::vector<std::int64_t> minutes;
  for (std::int64_t at = next_complaint(kFirstComplaint); minutes.size() < 4; at = next_complaint(at)) {
    minutes.push_back(at / kMinute);
  }
  EXPECT_EQ(minutes, (std::vector<std::int64_t>{1, 10, 60, 120}));
}

TEST(Complaints, NameTheRanksOfAShortListAndCountTheOthers) {
  EXPECT_EQ(list_of_ranks({3}), "rank 3");
  EXPECT_EQ(list_of_ranks({3, 5}), "ranks 3 and 5");
  EXPECT_EQ(list_of_ranks({1, 2, 3, 4, 5, 6, 7, 8, 9}), "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 9");
  EXPECT_EQ(list_of_ranks({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
}

}  // namespace
}  // namespace steelyard::base

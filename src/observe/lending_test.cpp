// SPDX-License-Identifier: BSD-3-Clause
#include "observe/lending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/sample_records.h"

namespace steelyard::observe {
namespace {

using testing::HasSubstr;

// Of four ranks that borrowed: what the regions of rank 1 would have taken, and what they took with borrowed cores, s.
std::string said(double own, double borrowing) {
  RunRecord record = sample_run();
  record.wall = 8;
  for (int i = 0; i < 4; ++i) {
    record.ranks.push_back(sample_rank(i, 0, 4, 9900, 10000));
    Totals& totals = record.ranks.back().totals;
    totals.lent = totals.borrowed = 1'000'000'000;
    totals.borrowing_own = totals.borrowing_wall = own > 0 ? 100'000'000 : 0;
  }
  record.ranks[1].totals.borrowing_own = static_cast<std::int64_t>(own * 1e9);
  record.ranks[1].totals.borrowing_wall = static_cast<std::int64_t>(borrowing * 1e9);
  Page page(4);
  say_lending(record, record.ranks[0].totals, true, page);
  std::string all;
  for (const std::string& line : page.lines) all += line + "\n";
  return all;
}

TEST(Lending, GainIsEstimatedByTheRankWithTheLargestEffect) {
  EXPECT_EQ(said(6, 4),
            "  lent      1.00 core s by ranks that waited in MPI; 1.00 core s of that were used by other ranks\n"
            "  gain      of lending: about 20 % less time, estimated: with borrowed cores, regions of rank 1 took\n"
            "            4.00 s instead of 6.00 s\n");
  EXPECT_THAT(said(3.2, 4), HasSubstr("gain      of lending: none, estimated: with borrowed cores"));
  EXPECT_THAT(said(4, 4.03), HasSubstr("gain      of lending: none, estimated: with borrowed cores"));
  // "none" would contradict the two durations in the same line.
  EXPECT_THAT(said(4.03, 4), HasSubstr("gain      of lending: under 1 % less time, estimated: with borrowed cores"));
  EXPECT_THAT(said(0, 0), HasSubstr("gain      of lending: not known; to measure it, use --lending=off"));
}

}  // namespace
}  // namespace steelyard::observe

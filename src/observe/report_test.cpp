// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/sample_records.h"
#include "observe/summary.h"

namespace steelyard::observe {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(FullReport, HoldsTheSummaryAndTheTables) {
  const std::string report = full_report(rich_run());
  EXPECT_THAT(report, HasSubstr("app+0x1a2b, steal: the fastest of those tried"));
  for (const std::string& line : summary(rich_run())) EXPECT_THAT(report, HasSubstr(line + "\n"));
  EXPECT_THAT(report, HasSubstr("  command      ./miniFE.x nx=264 ny=256\n"));
  EXPECT_THAT(report, HasSubstr("     6     0        6  4 fixed       12      400        200  rank 0 (3.100 s)"));
  EXPECT_THAT(report, HasSubstr("2 packages x 24 cores (emulated)"));
  EXPECT_THAT(report, testing::ContainsRegex("  steps +marked by +step before +interval +after +interval\n"));
  EXPECT_THAT(report, HasSubstr("node 0, cores: no plan (3 times)\n             why: the loads are new"));
  EXPECT_THAT(
      report,
      HasSubstr(
          "confirmed: forecast 22.1 % (20.9 to 23.3 %) less time, cost 900 us; measured 21.9 %\n             (21.5"));
  EXPECT_THAT(report, HasSubstr("\nRemarks\n  rank 6: the program"));
  EXPECT_THAT(report, HasSubstr("steal       12.0 % (11.0 to 13.0 %)  even\n"));
  RunRecord record = rich_run();
  record.nodes[0].phase_after = 0;
  EXPECT_THAT(full_report(record), testing::ContainsRegex("61.2 ms +[0-9.]+ ms to [0-9.]+ ms +- +-\n"));
}

TEST(FullReport, CallsAnUndoneMoveReverted) {
  RunRecord record = rich_run();
  ASSERT_FALSE(record.decisions.empty());
  record.decisions.front().outcome = Outcome::undone;
  EXPECT_THAT(full_report(record), testing::AllOf(HasSubstr("reverted: forecast "), Not(HasSubstr("undone"))));
}

TEST(FullReport, ListsTasks) {
  RunRecord record = rich_run();
  EXPECT_THAT(full_report(record), Not(HasSubstr("\nTasks\n")));
  record.tasks = {{3, 1, 1000, 900, 20, 5, 120, 240, 60, 4, 6, 1.5, 2, "messages"}};
  const std::string report = full_report(record);
  EXPECT_THAT(report, HasSubstr("\nTasks\n"));
  EXPECT_THAT(report,
              HasSubstr("   3     1000  900             20                 5           120        240        60"));
  EXPECT_THAT(report, HasSubstr("   3     1              1.500    2.000   75 %"));
}

}  // namespace
}  // namespace steelyard::observe

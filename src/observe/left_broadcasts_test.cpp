// SPDX-License-Identifier: BSD-3-Clause
#include "observe/left_broadcasts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/sample_records.h"
#include "observe/summary.h"

namespace steelyard::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

RunRecord run(const std::string& collectives) {
  RunRecord record = rich_run();
  record.options["collectives"] = collectives;
  for (RankRecord& rank : record.ranks) {
    rank.broadcasts = {1000, 0, 0, 1000};
    rank.broadcasts.left_length = 300;
    rank.broadcasts.left_choice = 700;
  }
  record.ranks[1].broadcasts.left_length = 299;
  return record;
}

std::string text(const RunRecord& record) {
  std::string joined;
  for (const std::string& line : summary(record)) joined += line + '\n';
  return joined;
}

TEST(LeftBroadcasts, AreToldByWhyTheMostFrequentFirst) {
  EXPECT_THAT(
      left_broadcasts(run("on")),
      ElementsAre(
          "handled by the MPI library: 700 of 1000 broadcasts, because no measurement had shown shorter waits "
          "without the library",
          StartsWith(
              "handled by the MPI library: 300 of 1000 broadcasts, because they were longer than 2 MiB on a node")));
  EXPECT_THAT(left_broadcasts(rich_run()), IsEmpty());
}

TEST(LeftBroadcasts, EachReasonHasWordsOfItsOwn) {
  for (const LeftField& field : kLeftFields) {
    RunRecord record = rich_run();
    record.ranks[0].broadcasts.calls = 1;
    record.ranks[0].broadcasts.*field.count = 1;
    const auto told = left_broadcasts(record);
    ASSERT_EQ(told.size(), 1u) << field.name;
    EXPECT_THAT(told[0], HasSubstr("1 of 1 broadcast, because "));
    const std::string word = std::string(field.name).substr(5);
    const std::pair<std::string, std::string> words[] = {
        {"threads", "MPI_THREAD_MULTIPLE"}, {"boards", "broadcast buffers"}, {"first", "no tree"}, {"length", "longer"},
        {"choice", "shorter waits"},        {"memory", "no shared memory"}};
    for (const auto& [name, about] : words) {
      if (name == word) {
        EXPECT_THAT(told[0], HasSubstr(about));
      } else {
        EXPECT_THAT(told[0], Not(HasSubstr(about)));
      }
    }
  }
}

TEST(LeftBroadcasts, AreToldInTheSummaryWhereTheyWereAskedFor) {
  for (const char* asked : {"on", "called"}) {
    EXPECT_THAT(text(run(asked)), HasSubstr("bcast     handled by the MPI library: 700 of 1000 broadcasts")) << asked;
    EXPECT_THAT(text(run(asked)), Not(HasSubstr("300 of 1000"))) << "the main reason alone";
  }
  EXPECT_THAT(text(run("auto")), Not(HasSubstr("left to the MPI library")));
}

TEST(LeftBroadcasts, AreToldInTheFullReportInAnyCase) {
  for (const char* asked : {"on", "auto"}) {
    EXPECT_THAT(full_report(run(asked)), HasSubstr("\nBroadcasts\n  handled by the MPI library: 700 of 1000")) << asked;
    EXPECT_THAT(full_report(run(asked)), HasSubstr("300 of 1000 broadcasts, because they were longer"));
  }
  EXPECT_THAT(full_report(rich_run()), Not(HasSubstr("\nBroadcasts")));
}

}  // namespace
}  // namespace steelyard::observe

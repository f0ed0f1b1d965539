// SPDX-License-Identifier: BSD-3-Clause
#include "observe/late_in_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "observe/sample_records.h"
#include "observe/summary.h"

namespace steelyard::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Nodes of two ranks; of the even ones, `late` are late.
RunRecord run(int ranks, const std::vector<int>& late) {
  RunRecord record = sample_run();
  for (int r = 0; r < ranks; ++r) {
    record.ranks.push_back(sample_rank(r, r / 2, 1, 10, 20));
    record.ranks.back().broadcasts = {100, 0, 80, 20};
  }
  for (const int r : late) {
    record.ranks[static_cast<std::size_t>(r)].broadcasts.late = 60;
    record.ranks[static_cast<std::size_t>(r)].broadcasts.behind = 0.6;
  }
  return record;
}

TEST(LateInTrees, SayWhoWasHeldUpAtFirstAndAtLast) {
  RunRecord record = run(16, {8});
  record.trees = {{{0, 2, 4, 6, 8, 10, 12, 14}, {0, 2, 4, 6, 10, 12, 14, 8}}};
  EXPECT_THAT(late_in_trees(record),
              ElementsAre("tree of 8 nodes: rank 8 was late by 10.0 ms; it delayed 3 ranks at first, none at last"));
  record = run(16, {4, 12});
  record.trees = {{{0, 2, 4, 6, 12, 8, 10, 14}, {0, 2, 4, 6, 12, 8, 10, 14}}};
  EXPECT_THAT(
      late_in_trees(record),
      ElementsAre(
          "tree of 8 nodes: ranks 4, 12 were late, rank 4 most, by 10.0 ms; they delayed 4 ranks at first, 4 at last"));
}

TEST(LateInTrees, WhoIsLateHimselfIsNotHeldUp) {
  RunRecord record = run(16, {8, 12});
  record.trees = {{{0, 2, 4, 6, 8, 10, 12, 14}, {0, 2, 4, 6, 10, 8, 14, 12}}};
  EXPECT_THAT(late_in_trees(record), ElementsAre(HasSubstr("; they delayed 2 ranks at first")));
}

TEST(LateInTrees, WhoIsALittleLateIsHeldUpByWhoIsFarLater) {
  RunRecord record = run(16, {2, 4, 6, 8, 10, 12, 14});
  for (int r = 2; r < 16; r += 2) record.ranks[static_cast<std::size_t>(r)].broadcasts.behind = 0.006 + 1e-5 * r;
  record.ranks[8].broadcasts.behind = 0.6;
  record.ranks[14].broadcasts.behind = 0.3;
  record.trees = {{{0, 2, 4, 6, 8, 10, 12, 14}, {0, 2, 4, 6, 10, 12, 14, 8}}};
  EXPECT_THAT(
      late_in_trees(record),
      ElementsAre(
          "tree of 8 nodes: ranks 2, 4, 6, 8, 10, 12, ... (7 in all) were late, rank 8 most, by 10.0 ms; they delayed "
          "2 ranks at first, none at last"));
}

TEST(LateInTrees, SogasPlansAreCounted) {
  RunRecord record = run(8, {});
  const std::vector<int> order = {0, 2, 4, 6};
  record.trees = {{order, order, 100, 6, 2, 0}};
  EXPECT_THAT(plans_by_soga(record), IsEmpty()) << "another rule";
  record.options = {{"collectives-tree", "soga"}, {"collectives-tree-every", "16"}};
  EXPECT_THAT(plans_by_soga(record),
              ElementsAre("tree of soga: optimised 6 times in 100 broadcasts, order changed 2 times"));
  record.trees.push_back({order, order, 50, 0, 0, 2});
  EXPECT_THAT(plans_by_soga(record),
              ElementsAre("tree of soga: optimised 6 times in 150 broadcasts, order changed 2 times; rank 2 optimises "
                          "it, but only in broadcasts of its own of at most 1 MiB"));
  record.trees.clear();
  EXPECT_THAT(plans_by_soga(record), ElementsAre(HasSubstr("not used")));
  record.options["collectives"] = "off";
  EXPECT_THAT(plans_by_soga(record), IsEmpty());
}

TEST(LateInTrees, AnotherLeaderIsNamed) {
  RunRecord record = run(8, {4});
  record.trees = {{{0, 2, 4, 6}, {0, 2, 5, 6}}};
  EXPECT_THAT(
      late_in_trees(record),
      ElementsAre(
          "tree of 4 nodes: rank 4 was late by 10.0 ms; it delayed 1 rank at first, none at last; rank 5 leads its "
          "node instead of rank 4"));
}

TEST(LateInTrees, ARootOfItsOwnBroadcastsIsNotLateToThem) {
  RunRecord record = run(8, {0, 6});
  // 6 was root of all, and stood at 0 for each: 0 instead.
  record.trees = {{{0, 2, 4, 6}, {6, 2, 4, 0}}};
  EXPECT_THAT(late_in_trees(record),
              ElementsAre("tree of 4 nodes: rank 0 was late by 10.0 ms; it delayed no rank at first, none at last"));
}

TEST(LateInTrees, OnceInAWhileIsNotLate) {
  RunRecord record = run(8, {4});
  record.ranks[4].broadcasts.late = 19;
  record.trees = {{{0, 2, 4, 6}, {0, 2, 4, 6}}};
  EXPECT_THAT(late_in_trees(record),
              ElementsAre("1 tree: no rank was late to 25 % of its broadcasts, and no rank moved"));
  record.trees[0].last = {0, 4, 2, 6};
  EXPECT_THAT(late_in_trees(record),
              ElementsAre("tree of 4 nodes: its order changed, but no rank was late to 25 % of its broadcasts"));
  record.ranks[4].broadcasts.late = 20;
  EXPECT_THAT(late_in_trees(record), ElementsAre(HasSubstr("rank 4 was late by")));
}

TEST(LateInTrees, OfManyThoseThatHeldUpMostAreTold) {
  RunRecord record = run(64, {8, 40});
  const Tree small{{0, 40}, {0, 40}};
  const Tree large{{0, 2, 4, 6, 8, 10, 12, 14}, {0, 2, 4, 6, 10, 12, 14, 8}};
  record.trees = {small, small, {{0, 2}, {0, 2}}, small, large, small};
  const auto told = late_in_trees(record);
  ASSERT_EQ(told.size(), 6u);
  EXPECT_THAT(told[0], HasSubstr("tree of 8 nodes: rank 8"));
  EXPECT_EQ(told[4], "1 more tree with late ranks or another order");
  EXPECT_THAT(told[5], HasSubstr("1 tree: no rank was late"));
}

TEST(LateInTrees, StandTheStrangestRecord) {
  RunRecord record = run(8, {0, 1, 2, 3, 4, 5, 6, 7});
  record.trees = {{}, {{0, 2}, {}}, {{}, {0, 2}}, {{9, 9, 9}, {4, 4}}, {{2}, {3, 99}}};
  EXPECT_THAT(late_in_trees(record), Not(IsEmpty()));
  EXPECT_THAT(late_in_trees(rich_run()), IsEmpty());
}

TEST(LateInTrees, AreToldInTheFullReport) {
  RunRecord record = run(16, {8});
  record.trees = {{{0, 2, 4, 6, 8, 10, 12, 14}, {0, 2, 4, 6, 10, 12, 14, 8}}};
  EXPECT_THAT(full_report(record), HasSubstr("\nBroadcasts\n  tree of 8 nodes: rank 8 was late by 10.0 ms;"));
}

TEST(LateInTrees, FourThousandNodesAreFew) {
  std::vector<int> first(4096);
  std::iota(first.begin(), first.end(), 0);
  for (int& rank : first) rank *= 2;
  RunRecord record = run(8192, {4096});
  record.trees = {{first, first}};
  EXPECT_THAT(late_in_trees(record), ElementsAre(HasSubstr("it delayed 2047 ranks at first, 2047 at")));
}

}  // namespace
}  // namespace steelyard::observe

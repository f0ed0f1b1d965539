// SPDX-License-Identifier: BSD-3-Clause
#include "loops/store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "loops/registry.h"
#include "loops/team.h"

namespace steelyard::loops {
namespace {

/// Executes a loop a few times with real threads, so that something is known of it.
void practise(Loop& loop, std::uint64_t count, int threads, int times) {
  Team team(threads);
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      Member& member = team.member(t);
      for (int i = 0; i < times; ++i) {
        ASSERT_TRUE(member.begin(loop, count));
        for (Chunk chunk; member.next(chunk);) {
        }
        member.end();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

std::string temporary(const char* name) { return testing::TempDir() + name + "." + std::to_string(getpid()); }

TEST(Store, WhatIsWrittenIsReadBack) {
  Loop loop("app+0x12", {Strategy::adaptive, 0.5, 0}), untouched("other");
  loop.record_assignments(true);
  practise(loop, 5000, 3, 30);
  practise(loop, 70, 2, 3);
  const std::string text = to_json({&loop, &untouched});
  std::vector<Stored> stored;
  ASSERT_TRUE(from_json(text, "text", stored)) << text;
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[0].key, "app+0x12");
  EXPECT_EQ(stored[0].assignments, loop.assignments());
  EXPECT_EQ(stored[0].assignments.size(), 2U);
  ASSERT_EQ(stored[0].regimes.size(), 2U);
  const auto mine = loop.regimes();
  for (std::size_t i = 0; i < 2; ++i) {
    const Measured &a = mine[i].history.measured(), &b = stored[0].regimes[i].history.measured();
    EXPECT_EQ(stored[0].regimes[i].threads, mine[i].threads);
    EXPECT_EQ(stored[0].regimes[i].magnitude, mine[i].magnitude);
    EXPECT_EQ(stored[0].regimes[i].history.executions(), mine[i].history.executions());
    EXPECT_DOUBLE_EQ(a.iteration_ns, b.iteration_ns);
    EXPECT_DOUBLE_EQ(a.spread_ns, b.spread_ns);
    EXPECT_EQ(a.boundaries, b.boundaries);
    EXPECT_EQ(a.profile.place, b.profile.place);
  }
  EXPECT_TRUE(stored[1].regimes.empty());
  // Planning goes on where it was: a second writing says the same of what was restored.
  Loop again("app+0x12", {Strategy::adaptive, 0.5, 0});
  for (const auto& regime : stored[0].regimes) again.restore(regime);
  Plan before, after;
  Loop::Ticket one, two;
  loop.prepare({5000, 3}, before, one);
  again.prepare({5000, 3}, after, two);
  EXPECT_EQ(before.boundaries, after.boundaries);
}

TEST(Store, BrokenFilesAreRefusedWithASentenceAndNothingIsTaken) {
  Loop loop("a");
  loop.record_assignments(true);
  practise(loop, 100, 2, 4);
  const std::string good = to_json({&loop});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  std::vector<Stored> stored(1);
  for (const std::string& bad :
       {std::string(), std::string("{}"), good.substr(0, good.size() / 2),
        with("\"steelyard_loops\": 1", "\"steelyard_loops\": 9"), with("\"threads\": 2", "\"threads\": -2"),
        with("\"threads\": 2", "\"threads\": 1000000"), with("\"iteration_ns\":", "\"iteration_ns\": -1, \"x\":"),
        with("\"key\": \"a\"", "\"key\": 5"), with("\"place\": [\n", "\"place\": [\n 0.5,\n"),
        with("\"iterations\": 100,\n     \"threads\"", "\"iterations\": 99,\n     \"threads\"")}) {
    const auto status = from_json(bad, "learnt.json", stored);
    EXPECT_FALSE(status) << bad;
    EXPECT_NE(status.sentence().find("learnt.json is not used"), std::string::npos) << status.sentence();
    EXPECT_EQ(stored.size(), 1U);
  }
}

TEST(Registry, KnowsALoopByItsCallSite) {
  const auto here = reinterpret_cast<std::uint64_t>(&practise) + 3;
  Loop& loop = registry().at(here);
  EXPECT_EQ(&loop, &registry().at(here));
  EXPECT_NE(&loop, &registry().at(here + 1));
  EXPECT_EQ(loop.key().substr(0, 11), "store_test+") << loop.key();
  EXPECT_EQ(&loop, &registry().named(loop.key()));
  Loop* elsewhere = nullptr;
  std::thread([&] { elsewhere = &registry().at(here); }).join();
  EXPECT_EQ(elsewhere, &loop);
  EXPECT_EQ(site_name(16), "0x10");
}

TEST(Registry, LearnsFromAnEarlierRunAndRepeatsIt) {
  const std::string path = temporary("learnt");
  {
    Loop& loop = registry().named("kernel");
    registry().record_assignments(true);
    practise(loop, 900, 2, 40);
    ASSERT_TRUE(registry().save(path));
    registry().record_assignments(false);
  }
  ASSERT_TRUE(registry().load(path));
  std::vector<Stored> stored;
  ASSERT_TRUE(read_file(path, stored));
  // A file of a run that has met other loops: they are found when they are met, and not lost when they are not.
  for (Stored& loop : stored) loop.key += ", elsewhere";
  const std::string other = temporary("other");
  std::ifstream in(path);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.replace(text.find("\"kernel\""), 8, "\"later\"");
  std::ofstream(other) << text;
  ASSERT_TRUE(registry().load(other));
  ASSERT_TRUE(registry().replay(other));
  Loop& later = registry().named("later");
  ASSERT_EQ(later.regimes().size(), 1U);
  EXPECT_EQ(later.regimes()[0].history.executions(), registry().named("kernel").regimes()[0].history.executions());
  later.record_assignments(true);
  practise(later, 900, 2, 3);
  EXPECT_EQ(later.assignments(), registry().named("kernel").assignments());
  ::unlink(path.c_str());
  ::unlink(other.c_str());
}

TEST(Registry, KeepsWhatTheFileSaysOfLoopsThatWereNotMet) {
  const std::string path = temporary("kept");
  const auto saved = [&](const std::string& key) {
    std::vector<Stored> stored;
    EXPECT_TRUE(read_file(path, stored));
    const auto its = std::ranges::find(stored, key, &Stored::key);
    EXPECT_NE(its, stored.end()) << key;
    return its == stored.end() ? Stored() : *its;
  };
  Loop earlier("of an earlier run"), other("of another library");
  for (Loop* loop : {&earlier, &other}) {
    loop->record_assignments(true);
    practise(*loop, 700, 2, 5);
    practise(*loop, 30, 3, 5);
  }
  ASSERT_TRUE(write_file(path, {&earlier}));
  ASSERT_TRUE(registry().load(path));
  ASSERT_TRUE(write_file(path, {&other}));
  registry().record_assignments(true);
  Loop& mine = registry().named("of this run");
  practise(mine, 50, 2, 5);
  ASSERT_TRUE(registry().save(path));
  registry().record_assignments(false);
  EXPECT_EQ(saved("of an earlier run").assignments, earlier.assignments());
  EXPECT_EQ(saved("of an earlier run").regimes.size(), 2U);
  EXPECT_EQ(saved("of another library").assignments, other.assignments());
  EXPECT_EQ(saved("of another library").regimes.size(), 2U);
  EXPECT_EQ(saved("of this run").assignments, mine.assignments());
  // What is known better here is not taken from there.
  practise(mine, 50, 2, 20);
  const long executions = mine.regimes().at(0).history.executions();
  ASSERT_TRUE(registry().save(path));
  EXPECT_EQ(saved("of this run").regimes.at(0).history.executions(), executions);
  ::unlink(path.c_str());
}

TEST(Store, EachNumberOfIterationsIsRecordedThoughFewExecutionsAreMeasured) {
  constexpr std::uint64_t kFirst = 900, kNumbers = 20;
  Loop loop("varies", {Strategy::even, 0, 0});
  // An earlier run had another assignment than this one has.
  const Assignment earlier{kFirst + 5, {{}, {{0, kFirst + 5}}}};
  loop.remember(earlier);
  loop.record_assignments(true);
  practise(loop, kFirst, 2, 200);  // so short a loop is measured every 64th time by now
  for (std::uint64_t i = 1; i < kNumbers; ++i) practise(loop, kFirst + i, 2, 1);
  const auto recorded = loop.assignments();
  ASSERT_EQ(recorded.size(), kNumbers);
  EXPECT_EQ(std::ranges::count(recorded, earlier), 0);
  for (const Assignment& each : recorded) EXPECT_TRUE(each.complete());
}

TEST(Store, OneLineSaysOfALoopThatWasNotRecordedAsItIsNow) {
  Loop loop("grows");
  ASSERT_TRUE(loop.replay({100, {{{0, 50}}, {{50, 100}}}}));
  testing::internal::CaptureStderr();
  for (std::uint64_t count = 90; count < 110; ++count) practise(loop, count, 2, 1);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("loop grows has 90 iterations and 2 threads now"), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_EQ(loop.repeats().repeated, 1U);
}

TEST(Store, KeysThatAreNotUtf8AreFoundAgain) {
  EXPECT_EQ(storable("pr\xc3\xbc"
                     "fung"),
            "pr\xc3\xbc"
            "fung");
  EXPECT_EQ(storable("pr\xfc"
                     "fung"),
            "pr\xc3\xbc"
            "fung")
      << "as Latin-1";
  EXPECT_NE(storable("\xe4"), storable("\xf6"));
  const Loop loop("\xff");  // whatever comes, a text is made
  std::vector<Stored> stored;
  EXPECT_TRUE(from_json(to_json({&loop}), "text", stored));
  EXPECT_EQ(&registry().named("pr\xfc"
                              "fung"),
            &registry().named("pr\xc3\xbc"
                              "fung"));
  EXPECT_NE(&registry().named("\xe4"), &registry().named("\xf6"));
}

TEST(Registry, AStrategyThatWasFoundIsNotLostToARunThatHasFoundNone) {
  const std::string path = temporary("found");
  Loop& loop = registry().named("compared anew");
  practise(loop, 600, 2, 1);
  Loop::Regime found;
  ASSERT_TRUE(loop.latest(found));
  ASSERT_FALSE(found.policy.best()) << "one execution chooses nothing";
  found.policy = Policy({}, Strategy::guided);
  Loop earlier("compared anew");
  earlier.restore(found);
  ASSERT_TRUE(write_file(path, {&earlier}));
  const auto saved = [&] {
    std::vector<Stored> stored;
    EXPECT_TRUE(read_file(path, stored));
    const auto its = std::ranges::find(stored, "compared anew", &Stored::key);
    return its == stored.end() ? std::nullopt : its->regimes.at(0).policy.best();
  };
  ASSERT_TRUE(registry().save(path));
  EXPECT_EQ(saved(), Strategy::guided) << "the file is of another run";
  ASSERT_TRUE(registry().load(path));
  ASSERT_TRUE(registry().save(path));
  EXPECT_EQ(saved(), Strategy::guided) << "it was read when the loop had begun";
  ::unlink(path.c_str());
}

TEST(Registry, FilesThatCannotBeUsedAreSentences) {
  const auto missing = registry().load("/nowhere/learnt.json");
  EXPECT_FALSE(missing);
  EXPECT_NE(missing.sentence().find("/nowhere/learnt.json cannot be read"), std::string::npos);
  const auto unwritable = registry().save("/nowhere/learnt.json");
  EXPECT_FALSE(unwritable);
  EXPECT_NE(unwritable.sentence().find("cannot be written"), std::string::npos);
}

TEST(Registry, SlackIsWantedFromTheFirstLoopOnThatAsksForIt) {
  const Settings before = registry().defaults();
  registry().set_defaults({Strategy::automatic, 0.9, 0});
  EXPECT_FALSE(registry().wants_slack());
  testing::internal::CaptureStderr();
  registry().set_defaults({Strategy::combined, 0.9, 0});
  EXPECT_TRUE(registry().wants_slack());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("with MPI under `steelyard run`; start it so"),
            std::string::npos)
      << "this process is not under it";
  registry().set_defaults(before);
}

TEST(Registry, SlackGoesToTheLoopThatWasExecutedLast) {
  Loop& loop = registry().named("before the collective");
  practise(loop, 10, 2, 1);
  registry().executed(loop);
  registry().waited(12345);
  const auto slack = [&] { return loop.regimes().at(0).history.measured().slack_ns; };
  EXPECT_DOUBLE_EQ(slack(), 12345);
  registry().waited(10);
  registry().waited(50'000'000);
  EXPECT_DOUBLE_EQ(slack(), 12345) << "only the first collective after the loop has waited for the loop of others";
  registry().executed(loop);
  registry().waited(0);
  EXPECT_DOUBLE_EQ(slack(), 0);
}

}  // namespace
}  // namespace steelyard::loops

// SPDX-License-Identifier: BSD-3-Clause
#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/options_page.h"
#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

using base::Environment;
using base::Options;
using testing::HasSubstr;
using Words = std::vector<std::string>;

std::size_t before(Words words) { return words_before_program(words, 0); }

TEST(WordsBeforeProgram, EndAtTheFirstThatIsNoOption) {
  EXPECT_EQ(before({}), 0u);
  EXPECT_EQ(before({"./app", "--observe"}), 0u);
  EXPECT_EQ(before({"--observe", "./app", "--cores=off"}), 1u);
  EXPECT_EQ(before({"--spin", "5", "./app"}), 2u) << "the value is a word of its own";
  EXPECT_EQ(before({"--spin=5", "./app"}), 1u);
  EXPECT_EQ(before({"--observe", "off"}), 1u) << "a switch takes its value by = alone";
  EXPECT_EQ(before({"--", "--observe"}), 1u);
  EXPECT_EQ(before({"--observe", "--", "app", "--", "x"}), 2u);
  EXPECT_EQ(before({"--spin"}), 1u);
  EXPECT_EQ(before({"--record", "--", "app"}), 2u);
}

TEST(OptionsAfterProgram, AreThoseThatSteelyardWouldTake) {
  EXPECT_EQ(options_after_program({"./app", "--observe", "x", "--balance-every=5"}),
            (Words{"--observe", "--balance-every=5"}));
  EXPECT_EQ(options_after_program({"./app", "--lending", "--cores", "off"}), (Words{"--lending", "--cores"}));
  EXPECT_EQ(options_after_program({"./app", "--cores=4", "--balance-every", "--observed", "-observe", "--"}), Words{})
      << "the program's own";
  EXPECT_EQ(options_after_program({"./app", "--verbose", "--record=x", "--max-threads=8", "--spin=100", "--smt=off"}),
            Words{})
      << "usual names";
  EXPECT_EQ(
      options_after_program({"./app", "--exploration=0.1", "--confidence", "0.9", "--emulate=core:8 pu:1"}).size(), 3U)
      << "few programs have them";
  EXPECT_EQ(options_after_program({"env", "steelyard", "run", "--observe", "./app"}), Words{});
  EXPECT_EQ(options_after_program({"./app", "--speaks=on"}), Words{}) << "internal";
  EXPECT_EQ(options_after_program({}), Words{});
}

class ResolveTest : public testing::Test {
 protected:
  /// The sentence of the failure; "" where there is none.
  std::string resolve(Words words, const Environment& environment = {}) {
    CLI::App app;
    const OptionWords option_words(app);
    std::reverse(words.begin(), words.end());
    app.parse(words);
    options_ = {};
    return option_words.resolve(environment, options_).sentence();
  }
  testing_support::Scratch scratch_;
  Options options_;
};

TEST_F(ResolveTest, PrefersTheCommandLineThenTheEnvironmentThenTheFile) {
  const auto file = scratch_.write("s.toml", "spin = 1\ntimeline-samples = 1\nblocktime = 1\ncores = false\n");
  const Environment environment{
      {"STEELYARD_SPIN", "2"}, {"STEELYARD_TIMELINE_SAMPLES", "2"}, {"STEELYARD_CORES", "on"}};
  ASSERT_EQ(resolve({"--config=" + file, "--spin=3"}, environment), "");
  EXPECT_EQ(options_.spin, 3);
  EXPECT_EQ(options_.timeline_samples, 2);
  EXPECT_EQ(options_.blocktime, 1);
  EXPECT_EQ(options_.cores, base::Cores::on);
  EXPECT_EQ(options_.balance_every, 0);
}

TEST_F(ResolveTest, TakesTheFileFromTheEnvironmentToo) {
  const auto file = scratch_.write("s.toml", "spin = 1\n");
  ASSERT_EQ(resolve({}, {{"STEELYARD_CONFIG", file}}), "");
  EXPECT_EQ(options_.spin, 1);
  EXPECT_THAT(resolve({"--config=/nonexistent/x.toml"}, {{"STEELYARD_CONFIG", file}}),
              HasSubstr("/nonexistent/x.toml"));
}

TEST_F(ResolveTest, TakesSwitchesAloneAndWithAValue) {
  ASSERT_EQ(resolve({"--observe", "--cores=off", "--lending=on"}), "");
  EXPECT_TRUE(options_.observe);
  EXPECT_EQ(options_.cores, base::Cores::off);
  EXPECT_TRUE(options_.lending);
  ASSERT_EQ(resolve({"--cores=off", "--cores"}), "");
  EXPECT_EQ(options_.cores, base::Cores::on);
  ASSERT_EQ(resolve({"--observe", "--observe=off"}), "");
  EXPECT_FALSE(options_.observe) << "the last one holds";
  ASSERT_EQ(resolve({"--spin", "4", "--spin=5"}), "");
  EXPECT_EQ(options_.spin, 5);
}

TEST_F(ResolveTest, NamesWhatWasProbablyMeant) {
  EXPECT_EQ(resolve({"--balence-every=3"}), "unknown option --balence-every; did you mean --balance-every?");
  EXPECT_EQ(resolve({"--colour"}), "unknown option --colour; `steelyard options` lists all");
  EXPECT_THAT(resolve({"--internal-command=x"}), HasSubstr("unknown option --internal-command"));
  EXPECT_THAT(resolve({"-v"}), HasSubstr("unknown option -v"));
}

TEST_F(ResolveTest, RefusesOldNamesInEachSource) {
  EXPECT_EQ(resolve({"--thread-numbers=keep"}), "--thread-numbers is now --thread-ids");
  EXPECT_THAT(resolve({"--loops-rebalance-static"}), HasSubstr("--loops-rebalance-static was removed: "));
  EXPECT_EQ(resolve({}, {{"STEELYARD_LEARN", "loops.json"}}), "STEELYARD_LEARN is now STEELYARD_LOOPS_LEARN");
  const auto file = scratch_.write("old.toml", "domain = \"numa\"\n");
  EXPECT_THAT(resolve({"--config=" + file}), HasSubstr("line 1: domain is now cores-domain"));
}

TEST_F(ResolveTest, TakesWordsForWhatIsNotSet) {
  const Environment environment{{"STEELYARD_MAX_THREADS", "4"}, {"STEELYARD_LOOPS_LEARN", "loops.json"}};
  ASSERT_EQ(resolve({"--max-threads=auto", "--loops-learn=none", "--record=none"}, environment), "");
  EXPECT_EQ(options_.max_threads, 0);
  EXPECT_EQ(options_.loops_learn, "");
  EXPECT_EQ(options_.record, "");
  ASSERT_EQ(resolve({"--record=off"}), "");
  EXPECT_EQ(options_.record, "");
  ASSERT_EQ(resolve({}, {{"STEELYARD_RECORD", "off"}}), "");
  EXPECT_EQ(options_.record, "");
  for (const char* on : {"on", "true", "yes"}) {
    ASSERT_EQ(resolve({}, {{"STEELYARD_RECORD", on}}), "");
    EXPECT_EQ(options_.record, "auto") << "no file of this name is written";
  }
  ASSERT_EQ(resolve({"--record=false"}), "");
  EXPECT_EQ(options_.record, "");
  for (const auto* name : {"loops-learn", "loops-replay", "config", "emulate"}) {
    const auto word = std::string("--") + name;
    EXPECT_THAT(resolve({word + "=on"}), HasSubstr(word + " is 'on'; it must be ")) << "it has no default";
    EXPECT_EQ(resolve({word + "=no"}), "");
  }
  EXPECT_EQ(resolve({}, {{"STEELYARD_LOOPS_LEARN", "true"}}),
            "STEELYARD_LOOPS_LEARN is 'true'; it must be a text that is not empty (PATH, not just on), or none (off)");
  EXPECT_EQ(resolve({"--loops-learn=./on"}), "");
  EXPECT_EQ(options_.loops_learn, "./on");
  ASSERT_EQ(resolve({"--max-threads=auto", "--config=none"}, {{"STEELYARD_CONFIG", "/nonexistent.toml"}}), "");
  EXPECT_EQ(options_.max_threads, 0);
  EXPECT_EQ(resolve({"--max-threads=none"}),
            "--max-threads is 'none'; it must be auto or an integer from 1 to 4096 (threads)");
}

TEST_F(ResolveTest, NamesTheSourceOfABadValue) {
  EXPECT_EQ(resolve({"--cores=maybe"}), "--cores is 'maybe'; it must be one of on, sabo, off");
  EXPECT_EQ(resolve({}, {{"STEELYARD_CORES_DOMAIN", "socket"}}),
            "STEELYARD_CORES_DOMAIN is 'socket'; it must be one of auto, package, numa, l3, node");
}

TEST_F(ResolveTest, IgnoresWhatASurroundingRunHasHandedDown) {
  ASSERT_EQ(resolve({}, {{"STEELYARD_INTERNAL_LAUNCHED", "on"}, {"STEELYARD_INTERNAL_COMMAND", "outer"}}), "");
  EXPECT_FALSE(options_.launched);
  EXPECT_EQ(options_.command, "");
}

TEST(OptionsPage, ShowsEachOptionToUsersAndNoInternalOne) {
  const auto page = options_page(), manual = options_manual();
  for (const auto& option : base::option_table()) {
    const auto row = "--" + std::string(option.name) + "=";
    EXPECT_EQ(page.find(row) != std::string::npos, !option.internal) << option.name;
    EXPECT_EQ(manual.find(option.variable()) != std::string::npos, !option.internal) << option.name;
  }
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(RunHelp, LeadsWithTheOptionsThatMostUsersNeedAndNamesWhereAllAre) {
  const auto help = run_help();
  EXPECT_TRUE(help.starts_with("usage: mpirun -n N steelyard run [options] ./app [arguments]\n"));
  EXPECT_THAT(help, HasSubstr("`steelyard options` lists all options"));
  std::istringstream lines(help);
  Words options, examples;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    if (line.starts_with("  --")) options.push_back(line.substr(4, line.find('=') - 4));
    if (line.starts_with("  mpirun")) examples.push_back(line);
  }
  EXPECT_EQ(options, (Words{"observe", "cores", "lending", "loops", "collectives", "thread-ids", "record", "summary"}));
  EXPECT_EQ(examples.size(), 2u);
}

TEST(DoctorHelp, SaysWhatDoctorDoes) {
  const auto help = doctor_help();
  EXPECT_TRUE(help.starts_with("usage: steelyard doctor [options] ./app\n"));
  EXPECT_THAT(help, testing::AllOf(HasSubstr("without starting the program"), HasSubstr("--thread-ids="),
                                   HasSubstr("Exit status")));
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(OptionsManual, IsRoffThatNeedsNoGuessing) {
  const auto manual = options_manual();
  EXPECT_TRUE(manual.starts_with(".TH STEELYARD 1"));
  EXPECT_NE(manual.find(".SH OPTIONS\n"), std::string::npos);
  EXPECT_THAT(manual, HasSubstr("\\fB\\-\\-balance\\-every\\fR=\\fIauto|\\:N\\fR\n"));
  std::istringstream lines(manual);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('.')) continue;
    const auto request = line.substr(0, line.find(' '));
    EXPECT_THAT(request, testing::AnyOf(".TH", ".ad", ".nh", ".SH", ".SS", ".TP", ".B", ".BR", ".RB", ".I", ".PP",
                                        ".br", ".nf", ".fi"))
        << line;
  }
}

}  // namespace
}  // namespace steelyard::cli

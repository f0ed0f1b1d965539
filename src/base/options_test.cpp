// SPDX-License-Identifier: BSD-3-Clause
#include "base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace steelyard::base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string sentence_of(std::string_view name, std::string_view text) {
  Options options;
  return assign(options, *find_option(name), text, "--" + std::string(name)).sentence();
}

TEST(OptionTable, NamesAreUniqueAndEveryRowIsDocumented) {
  std::set<std::string> variables;
  for (const auto& option : option_table()) {
    EXPECT_TRUE(variables.insert(option.variable()).second) << option.name;
    EXPECT_FALSE(option.doc.empty()) << option.name;
    EXPECT_NE(option.doc.ends_with('.'), option.internal) << option.name;
    EXPECT_EQ(option.internal, option.name.starts_with("internal-")) << option.name;
  }
}

TEST(OptionTable, EveryDefaultIsAValidValueAndComesBack) {
  for (const auto& option : option_table()) {
    Options options;
    const auto text = text_of(options, option);
    EXPECT_TRUE(assign(options, option, text, option.name)) << option.name << " " << text;
    EXPECT_EQ(text_of(options, option), text) << option.name;
  }
}

TEST(OptionTable, EveryChoiceComesBackAndSetsNothingElse) {
  for (const auto& option : option_table()) {
    for (const auto choice : option.choices) {
      Options options;
      ASSERT_TRUE(assign(options, option, choice, option.name));
      for (const auto& other : option_table()) {
        EXPECT_EQ(text_of(options, other), other.name == option.name ? choice : text_of(Options(), other))
            << other.name;
      }
    }
  }
  Options options;
  ASSERT_TRUE(assign(options, *find_option("cores-domain"), "l3", "--cores-domain"));
  EXPECT_EQ(options.cores_domain, CoresDomain::l3);
  ASSERT_TRUE(assign(options, *find_option("thread-local-data"), "keep", "--thread-local-data"));
  EXPECT_EQ(options.thread_local_data, ThreadLocalData::keep);
  ASSERT_TRUE(assign(options, *find_option("wait"), "poll", "--wait"));
  EXPECT_EQ(options.wait, Wait::poll);
  ASSERT_TRUE(assign(options, *find_option("openmp"), "keep", "--openmp"));
  EXPECT_EQ(options.openmp, OpenMp::keep);
}

TEST(OptionTable, VariableNamesFollowFromNames) {
  EXPECT_EQ(find_option("balance-every")->variable(), "STEELYARD_BALANCE_EVERY");
  EXPECT_EQ(find_option("no-such-option"), nullptr);
  EXPECT_EQ(find_option(""), nullptr);
}

TEST(Assign, NamesOptionValueAndWhatIsAllowed) {
  EXPECT_EQ(sentence_of("spin", "soon"), "--spin is 'soon'; it must be an integer from 0 to 1000000 (us)");
  EXPECT_EQ(sentence_of("cores", "maybe"), "--cores is 'maybe'; it must be one of on, sabo, off");
  EXPECT_EQ(sentence_of("wait", "doze"), "--wait is 'doze'; it must be one of sleep, poll");
  EXPECT_EQ(sentence_of("collectives-tree-every", "0"),
            "--collectives-tree-every is '0'; it must be an integer from 1 to 1000000 (broadcasts)");
  EXPECT_EQ(sentence_of("collectives-tree-threshold", "-1"),
            "--collectives-tree-threshold is '-1'; it must be an integer from 0 to 1000000000 (us)");
  EXPECT_EQ(sentence_of("collectives-tree", "bush"),
            "--collectives-tree is 'bush'; it must be one of auto, sort, swap, binomial, library, soga");
}

TEST(Assign, TakesNoHalfNumbers) {
  for (const char* text : {"", " 1", "1 ", "1.5", "0x10", "+1", "-1", "1e3", "1000001", "99999999999999999999999"}) {
    EXPECT_NE(sentence_of("spin", text), "") << "'" << text << "'";
  }
  EXPECT_EQ(sentence_of("spin", "0"), "");
  EXPECT_EQ(sentence_of("spin", "1000000"), "");
}

TEST(Assign, TakesRealNumbersWithinTheirRange) {
  for (const char* text :
       {"", " 0.9", "0.9 ", "0.9x", "95", "95%", "1", "0.49", "-0.9", "nan", "inf", "1e400", "0,9"}) {
    EXPECT_EQ(sentence_of("confidence", text),
              "--confidence is '" + std::string(text) + "'; it must be a number from 0.5 to 0.9999 (probability)");
  }
  for (const char* text : {"0.5", "0.999", "9e-1", "0.9999"}) EXPECT_EQ(sentence_of("confidence", text), "") << text;
  for (const char* text : {"0", "0.5", "1e-05"}) EXPECT_EQ(sentence_of("exploration", text), "") << text;
  EXPECT_EQ(sentence_of("exploration", "2"),
            "--exploration is '2'; it must be a number from 0 to 0.5 (share of the run time)");
}

TEST(Options, HoldTheSettingsOfAllDecisions) {
  Options options;
  EXPECT_EQ(options.decision().confidence, 0.95);
  EXPECT_EQ(options.decision().exploration, 0.01);
  ASSERT_TRUE(assign(options, *find_option("confidence"), "0.999", "x"));
  ASSERT_TRUE(assign(options, *find_option("exploration"), "0.2", "x"));
  EXPECT_EQ(options.decision().confidence, 0.999);
  EXPECT_EQ(options.decision().exploration, 0.2);
  EXPECT_EQ(described(options).at("confidence"), "0.999");
}

TEST(Assign, LeavesTheOldValueWhereItFails) {
  Options options;
  ASSERT_TRUE(assign(options, *find_option("max-threads"), "12", "x"));
  EXPECT_FALSE(assign(options, *find_option("max-threads"), "4097", "x"));
  EXPECT_EQ(options.max_threads, 12);
  EXPECT_FALSE(assign(options, *find_option("record"), "", "x")) << "'none' switches the record off, not an empty name";
  EXPECT_EQ(options.record, "auto");
}

TEST(Assign, TakesWordsForWhatIsNotSet) {
  const std::set<std::string_view> automatic{"balance-every",   "balance-at",     "max-threads", "loops-chunk",
                                             "virtual-threads", "ranks-per-node", "blocktime"};
  const std::set<std::string_view> none{"loops-learn", "loops-replay", "emulate", "config", "record"};
  for (const auto& option : option_table()) {
    EXPECT_EQ(option.unset, automatic.contains(option.name) ? "auto"
                            : none.contains(option.name)    ? "none"
                                                            : "")
        << option.name;
    if (option.unset.empty()) continue;
    Options options;
    ASSERT_TRUE(assign(options, option, automatic.contains(option.name) ? "7" : "file", "x"));
    EXPECT_NE(text_of(options, option), option.unset);
    ASSERT_TRUE(assign(options, option, option.unset, "x"));
    EXPECT_EQ(text_of(options, option), option.unset);
    EXPECT_THAT(option.value_name(), HasSubstr(std::string(option.unset)));
    EXPECT_THAT(option.allowed(), HasSubstr(std::string(option.unset)));
    if (automatic.contains(option.name)) {
      const auto if_unset = std::to_string(option.if_unset);
      EXPECT_FALSE(assign(options, option, if_unset, "x")) << "the word alone: 0 could as well be meant for off";
    } else {
      const auto* text = std::get_if<std::string Options::*>(&option.member);
      ASSERT_NE(text, nullptr);
      EXPECT_EQ(options.*(*text), "") << "no file of this name is written";
      ASSERT_TRUE(assign(options, option, "file", "x") && assign(options, option, "off", "x"));
      EXPECT_EQ(text_of(options, option), "none") << "off is the word of all switches";
    }
  }
  EXPECT_EQ(sentence_of("max-threads", "-1"),
            "--max-threads is '-1'; it must be auto or an integer from 1 to 4096 (threads)");
  EXPECT_EQ(sentence_of("blocktime", "-1"),
            "--blocktime is '-1'; it must be auto or an integer from 0 to 10000000 (us)");
  EXPECT_EQ(sentence_of("blocktime", "0"), "");
}

TEST(Assign, KeepsTheWordOffInInternalTexts) {
  Options options;
  ASSERT_TRUE(assign(options, *find_option("internal-command"), "off", "x"));
  EXPECT_EQ(options.command, "off") << "a program of this name";
}

TEST(OverrideFrom, HearsItsVariablesAndReportsBadOnes) {
  const Environment environment{{"STEELYARD_CORES", "off"},
                                {"STEELYARD_SPIN", "-3"},
                                {"STEELYARD_LENDING", ""},
                                {"STEELYARD_CORES_DOMAIN", "numa"},
                                {"CORES", "on"}};
  Options options;
  std::vector<std::string> complaints;
  override_from(environment, options, complaints);
  EXPECT_EQ(options.cores, Cores::off);
  EXPECT_TRUE(options.lending) << "an empty variable counts as not set";
  EXPECT_EQ(options.cores_domain, CoresDomain::numa);
  EXPECT_EQ(options.spin, 20);
  EXPECT_THAT(complaints, ElementsAre("STEELYARD_SPIN is '-3'; it must be an integer from 0 to 1000000 (us)"));
}

TEST(UnknownVariables, AreNamedWithTheNearestNeighbour) {
  const Environment environment{{"STEELYARD_BALENCE_EVERY", "3"},
                                {"STEELYARD_CONFIDENSE", "0.9"},
                                {"STEELYARD_ROOT_OF_ALL", "/opt"},
                                {"STEELYARD_CORES", "on"},
                                {"STEELYARD_INTERNAL_COMMAND", "a"},
                                {"STEELYARDS", "1"},
                                {"ZZZ", "1"}};
  EXPECT_THAT(unknown_variables(environment),
              ElementsAre("unknown environment variable STEELYARD_BALENCE_EVERY; did you mean STEELYARD_BALANCE_EVERY?",
                          "unknown environment variable STEELYARD_CONFIDENSE; did you mean STEELYARD_CONFIDENCE?",
                          "unknown environment variable STEELYARD_ROOT_OF_ALL; `steelyard options` lists all"));
}

TEST(UnknownVariables, NeverSuggestInternalOnes) {
  EXPECT_THAT(unknown_variables({{"STEELYARD_INTERNAL_COMMANDS", "1"}}),
              ElementsAre(testing::Not(HasSubstr("COMMAND?"))));
}

TEST(Exported, CarriesEveryOptionOverTheEnvironment) {
  Options sent;
  sent.observe = true;
  sent.balance_at = 40;
  sent.cores_domain = CoresDomain::node;
  sent.record = "/tmp/a b=c.json";
  sent.max_threads = 9;
  sent.confidence = 0.1 + 0.7;  // not 0.8: more digits than a user would write
  sent.loops_replay = "none.json";
  sent.command =
      "./app\x1f-n\x1f"
      "4";
  Environment child{{"STEELYARD_CORES", "off"}, {"STEELYARD_SPIN", "7"}};
  for (const auto& [name, value] : exported(sent)) {
    if (value.empty()) child.erase(name);
    if (!value.empty()) child[name] = value;
  }
  Options received;
  std::vector<std::string> complaints;
  override_from(child, received, complaints);
  EXPECT_THAT(complaints, IsEmpty());
  EXPECT_THAT(unknown_variables(child), IsEmpty());
  for (const auto& option : option_table()) EXPECT_EQ(text_of(received, option), text_of(sent, option)) << option.name;
  EXPECT_THAT(received.command_line(), ElementsAre("./app", "-n", "4"));
}

TEST(Described, HoldsWhatUsersCanSet) {
  const auto values = described(Options());
  EXPECT_EQ(values.at("balance-every"), "auto");
  EXPECT_EQ(values.at("loops-learn"), "none");
  EXPECT_EQ(values.at("lending"), "on");
  EXPECT_EQ(values.count("internal-command"), 0u);
}

TEST(Described, TellsWhetherTheUserHasSetTheBlocktime) {
  Options options;
  EXPECT_EQ(described(options).at("blocktime-auto"), "on");
  options.blocktime = 100;
  EXPECT_EQ(described(options).at("blocktime-auto"), "off");
  options.blocktime_chosen = true;
  EXPECT_EQ(described(options).at("blocktime-auto"), "on");
  EXPECT_EQ(described(options).at("blocktime"), "100");
}

TEST(Options, KeepEmptyArgumentsOfTheCommand) {
  Options options;
  options.command = "./app\x1f\x1flast";
  EXPECT_THAT(options.command_line(), ElementsAre("./app", "", "last"));
}

TEST(EnvironmentOfThisProcess, IsRead) {
  setenv("STEELYARD_TEST_ONLY", "a=b", 1);
  EXPECT_EQ(value_of(environment(), "STEELYARD_TEST_ONLY"), "a=b");
  unsetenv("STEELYARD_TEST_ONLY");
  EXPECT_EQ(value_of(environment(), "STEELYARD_TEST_ONLY"), "");
}

}  // namespace
}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#include "base/renamed_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/config_file.h"

namespace steelyard::base {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

std::string flag_of(std::string_view name) { return "--" + std::string(name); }

TEST(RenamedOptions, LeadFromANameThatIsGoneToOneThatIsThere) {
  std::set<std::string_view> before, now;
  for (const auto& option : renamed_options) {
    EXPECT_EQ(find_option(option.before), nullptr) << option.before;
    EXPECT_NE(find_option(option.now), nullptr) << option.now;
    EXPECT_TRUE(before.insert(option.before).second) << option.before;
    EXPECT_TRUE(now.insert(option.now).second) << option.now;
  }
}

TEST(RenamedOptions, AreNamedInTheFormOfTheirSource) {
  EXPECT_EQ(refusal_of_old_name("--thread-numbers", flag_of), "--thread-numbers is now --thread-ids");
  EXPECT_EQ(refusal_of_old_name("STEELYARD_NODE_RANKS", variable_of),
            "STEELYARD_NODE_RANKS is now STEELYARD_RANKS_PER_NODE");
  EXPECT_THAT(refusal_of_old_name("STEELYARD_LOOPS_REWEIGH", variable_of),
              StartsWith("STEELYARD_LOOPS_REWEIGH was removed: it made no program faster"));
  EXPECT_EQ(refusal_of_old_name("--thread-ids", flag_of), "");
  EXPECT_EQ(refusal_of_old_name("thread-numbers", flag_of), "");
}

void expect_refusal_in_each_source(std::string_view old_name, std::string_view rest_for_variables,
                                   std::string_view rest_for_keys) {
  const auto variable = variable_of(old_name);
  const auto sentence = variable + std::string(rest_for_variables);
  Options options;
  std::vector<std::string> complaints;
  override_from({{variable, "1"}}, options, complaints);
  EXPECT_THAT(complaints, ElementsAre(sentence));
  EXPECT_EQ(described(options), described(Options())) << variable;
  EXPECT_THAT(unknown_variables({{variable, "1"}}), ElementsAre(sentence));
  EXPECT_EQ(unknown_name("option", flag_of(old_name), flag_of), refusal_of_old_name(flag_of(old_name), flag_of));
  EXPECT_EQ(override_from_toml(std::string(old_name) + " = 1", "s.toml", options).sentence(),
            "config file s.toml, line 1: " + std::string(old_name) + std::string(rest_for_keys));
}

TEST(RenamedOptions, AreRefusedInEachSource) {
  for (const auto& option : renamed_options) {
    expect_refusal_in_each_source(option.before, " is now " + variable_of(option.now),
                                  " is now " + std::string(option.now));
  }
}

TEST(RemovedOptions, AreRefusedInEachSource) {
  for (const auto& option : removed_options) {
    EXPECT_EQ(find_option(option.name), nullptr) << option.name;
    const std::string rest = " was removed: " + std::string(option.why_and_instead);
    expect_refusal_in_each_source(option.name, rest, rest);
  }
}

TEST(RenamedOptions, MayBeEmptyVariables) {
  Options options;
  std::vector<std::string> complaints;
  override_from({{"STEELYARD_VERDICT", ""}}, options, complaints);
  EXPECT_THAT(complaints, ElementsAre());
}

}  // namespace
}  // namespace steelyard::base

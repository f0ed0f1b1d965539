// SPDX-License-Identifier: BSD-3-Clause
#include "base/renamed_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/config_file.h"

namespace steelyard::base {
namespace {

using testing::ElementsAre;

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
  EXPECT_EQ(renamed("--thread-numbers", flag_of), "--thread-numbers is now --thread-ids");
  EXPECT_EQ(renamed("STEELYARD_NODE_RANKS", variable_of), "STEELYARD_NODE_RANKS is now STEELYARD_RANKS_PER_NODE");
  EXPECT_EQ(renamed("--thread-ids", flag_of), "");
  EXPECT_EQ(renamed("thread-numbers", flag_of), "");
}

TEST(RenamedOptions, AreRefusedInEachSource) {
  for (const auto& option : renamed_options) {
    const auto variable = variable_of(option.before);
    const auto sentence = variable + " is now " + variable_of(option.now);
    Options options;
    std::vector<std::string> complaints;
    override_from({{variable, "1"}}, options, complaints);
    EXPECT_THAT(complaints, ElementsAre(sentence));
    EXPECT_EQ(described(options), described(Options())) << variable;
    EXPECT_THAT(unknown_variables({{variable, "1"}}), ElementsAre(sentence));
    EXPECT_EQ(unknown_name("option", flag_of(option.before), flag_of), renamed(flag_of(option.before), flag_of));
    EXPECT_EQ(override_from_toml(std::string(option.before) + " = 1", "s.toml", options).sentence(),
              "config file s.toml, line 1: " + std::string(option.before) + " is now " + std::string(option.now));
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

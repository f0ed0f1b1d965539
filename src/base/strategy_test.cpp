// SPDX-License-Identifier: BSD-3-Clause
#include "base/strategy.h"

#include <gmock/gmock.h>

#include <set>

#include "base/options.h"

namespace steelyard::base {
namespace {

using testing::HasSubstr;

int index_of(std::string_view text) { return base::index_of(text, strategy_names(), short_strategy_names()); }

std::string name_of(Strategy strategy) { return std::string(strategy_names()[static_cast<std::size_t>(strategy)]); }

TEST(Strategies, EachCompositionHasOneNameThatSaysItsModifiers) {
  ASSERT_EQ(strategy_names().size(), kStrategies);
  EXPECT_EQ(std::set<std::string_view>(strategy_names().begin(), strategy_names().end()).size(), kStrategies);
  const std::pair<Modifier, const char*> modifiers[] = {
      {Modifier::tuned, "+tuned"}, {Modifier::slack, "+slack"}, {Modifier::staggered, "+staggered"}};
  for (int i = 0; i < kStrategies; ++i) {
    const auto strategy = static_cast<Strategy>(i);
    const std::string name = name_of(strategy);
    EXPECT_EQ(index_of(name), i) << name;
    EXPECT_EQ(name.starts_with("hybrid"), strategy >= Strategy::hybrid) << name;
    for (const auto& [modifier, text] : modifiers)
      EXPECT_EQ(has(strategy, modifier), name.find(text) != std::string::npos) << name;
  }
  EXPECT_FALSE(has(Strategy::off, Modifier::tuned));
}

TEST(Strategies, ShortNamesAreThoseOfThePaper) {
  EXPECT_EQ(name_of(Strategy::tuned), "hybrid+tuned");
  EXPECT_EQ(name_of(Strategy::slack), "hybrid+tuned+slack");
  EXPECT_EQ(name_of(Strategy::staggered), "hybrid+staggered");
  EXPECT_EQ(name_of(Strategy::combined), "hybrid+tuned+slack+staggered");
  for (const auto& [name, index] : short_strategy_names()) EXPECT_EQ(index_of(name), index) << name;
}

TEST(Strategies, PartsInAnyOrderEachOnce) {
  EXPECT_EQ(index_of("hybrid+staggered+tuned"), index_of("hybrid+tuned+staggered"));
  EXPECT_EQ(index_of("hybrid+tuned+tuned"), -1);
  for (const char* wrong : {"", "+", "hybrid+", "+hybrid", "tuned+slack", "steal+slack", "off", "hybrid tuned"})
    EXPECT_EQ(index_of(wrong), -1) << wrong;
}

TEST(Strategies, TheOptionTakesEachAndShowsTheComposition) {
  const Option& option = *find_option("loops");
  Options options;
  for (const std::string_view name : strategy_names()) {
    ASSERT_TRUE(assign(options, option, name, "--loops"));
    EXPECT_EQ(text_of(options, option), name);
  }
  ASSERT_TRUE(assign(options, option, "slack", "--loops"));
  EXPECT_EQ(text_of(options, option), "hybrid+tuned+slack");
  ASSERT_TRUE(assign(options, option, "false", "--loops"));
  EXPECT_EQ(options.loops, Strategy::off);
}

TEST(Strategies, AWrongNameIsRefusedWithTheNearestAndAllCombinations) {
  Options options;
  const auto refusal = [&](const char* text) { return assign(options, *find_option("loops"), text, "--loops"); };
  EXPECT_EQ(refusal("stagered").sentence(),
            "--loops is 'stagered'; it must be one of auto, static, guided, factoring, steal, adaptive, "
            "hybrid[+tuned][+slack][+staggered], off; did you mean staggered?");
  EXPECT_THAT(refusal("hybrid+stagered").sentence(), HasSubstr("did you mean hybrid+staggered?"));
  EXPECT_THAT(refusal("hybrid+tuned+slak").sentence(), HasSubstr("did you mean hybrid+tuned+slack?"));
  EXPECT_EQ(options.loops, Strategy::automatic) << "nothing has changed";
}

}  // namespace
}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#include "base/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace steelyard::base {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string sentence_of(std::string_view toml) {
  Options options;
  return override_from_toml(toml, "steelyard.toml", options).sentence();
}

TEST(ConfigFile, TakesEachKindOfValue) {
  Options options;
  ASSERT_TRUE(
      override_from_toml("# a comment\ncores = false\nlending = \"off\"\nspin = 50\nwait = \"poll\"\nrecord = 'none'\n",
                         "steelyard.toml", options));
  EXPECT_EQ(options.cores, Cores::off);
  EXPECT_FALSE(options.lending);
  EXPECT_EQ(options.spin, 50);
  EXPECT_EQ(options.wait, Wait::poll);
  ASSERT_TRUE(override_from_toml("confidence = 0.9\nexploration = 0\n", "steelyard.toml", options));
  EXPECT_EQ(options.confidence, 0.9);
  EXPECT_EQ(options.exploration, 0);
  EXPECT_EQ(options.record, "");
  ASSERT_TRUE(override_from_toml("max-threads = 3\nspin = 7\n", "steelyard.toml", options));
  for (const char* no_record : {"record = 'off'\n", "record = false\n"}) {
    options.record = "auto";
    ASSERT_TRUE(override_from_toml(no_record, "steelyard.toml", options));
    EXPECT_EQ(options.record, "") << no_record;
  }
  ASSERT_TRUE(override_from_toml("max-threads = \"auto\"\nloops-learn = \"none\"\n", "steelyard.toml", options));
  EXPECT_EQ(options.max_threads, 0);
  EXPECT_EQ(options.loops_learn, "");
  EXPECT_TRUE(override_from_toml("", "steelyard.toml", options));
}

TEST(ConfigFile, NamesFileLineAndNearestNeighbour) {
  EXPECT_EQ(sentence_of("\nbalence-every = 3\n"),
            "config file steelyard.toml, line 2: unknown option balence-every; did you mean balance-every?");
  EXPECT_EQ(sentence_of("spin = -1"),
            "config file steelyard.toml, line 1: spin is '-1'; it must be an integer from 0 to 1000000 (us)");
  EXPECT_THAT(sentence_of("spin = 1.5"), HasSubstr("spin is '1.5'; it must be an integer from 0 to 1000000 (us)"));
  EXPECT_THAT(sentence_of("confidence = 95"),
              HasSubstr("confidence is '95'; it must be a number from 0.5 to 0.9999 (probability)"));
  EXPECT_THAT(sentence_of("spin = 2026-11-25"), HasSubstr("spin is neither a text, a number nor true or false"));
  EXPECT_THAT(sentence_of("[cores]\nevery = 3"), HasSubstr("cores is neither"));
  EXPECT_THAT(sentence_of("cores = true\ncores = "), AllOf(HasSubstr("steelyard.toml, line 2: ")));
  EXPECT_THAT(sentence_of("internal-command = 'x'"), HasSubstr("unknown option internal-command"));
  EXPECT_THAT(sentence_of("config = 'other.toml'"), HasSubstr("cannot name another"));
}

TEST(ConfigFile, SaysWhyItCannotBeRead) {
  Options options;
  EXPECT_EQ(override_from_file("/nonexistent/s.toml", options).sentence(),
            "cannot read config file /nonexistent/s.toml: No such file or directory");
  EXPECT_EQ(override_from_file(testing::TempDir(), options).sentence(),
            "cannot read config file " + testing::TempDir() + ": Is a directory");
}

TEST(ConfigFile, ReadsFilesEmptyOnesToo) {
  const auto path = testing::TempDir() + "steelyard_config_file_test.toml";
  std::ofstream(path).close();
  Options options;
  EXPECT_EQ(override_from_file(path, options).sentence(), "");
  std::ofstream(path) << "timeline-samples = 9\n";
  EXPECT_EQ(override_from_file(path, options).sentence(), "");
  EXPECT_EQ(options.timeline_samples, 9);
  std::remove(path.c_str());
}

TEST(ConfigFile, SuggestsQuotesForTextWithoutThem) {
  EXPECT_THAT(sentence_of("# cores\r\n  lending =  off \r\nspin = 50\n"), HasSubstr("line 2: "));
  EXPECT_THAT(sentence_of("# cores\r\n  lending =  off \r\nspin = 50\n"),
              HasSubstr("text stands in quotes, `lending = \"off\"`"));
  for (const char* other : {"lending off\n", "lendign = off\n", "lending = \"off\n", "lending =\n", "lending = 'a\\n"})
    EXPECT_THAT(sentence_of(other), testing::Not(HasSubstr("quotes"))) << other;
}

}  // namespace
}  // namespace steelyard::base

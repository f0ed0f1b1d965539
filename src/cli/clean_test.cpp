#include "cli/clean.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

TEST(Clean, RemovesWhatTheDeadHaveLeft) {
  const testing_support::Scratch scratch;
  // No process has this number: Linux ends at 2^22.
  const auto dead = scratch.write(fmt::format("steelyard-{}-99999999-0badcafe", getuid()), "");
  const auto alive = scratch.write(fmt::format("steelyard-{}-{}-0badcafe", getuid(), getpid()), "");
  const auto others = scratch.write(fmt::format("steelyard-{}-99999999-0badcafe", getuid() + 1), "");
  const auto strange = scratch.write("steelyard-run.json", "");
  EXPECT_EQ(clean(scratch / ""), 0);
  EXPECT_FALSE(std::filesystem::exists(dead));
  for (const auto& kept : {alive, others, strange}) EXPECT_TRUE(std::filesystem::exists(kept)) << kept;
}

TEST(Clean, SaysWhereItCannotLook) { EXPECT_EQ(clean("/no/such/place"), 1); }

}  // namespace
}  // namespace steelyard::cli

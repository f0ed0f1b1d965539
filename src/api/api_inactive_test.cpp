// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "steelyard/regions.hpp"
#include "steelyard/steelyard.hpp"

namespace {

TEST(Inactive, AStepDoesNothingAndSaysHowToStartTheProgram) {
  EXPECT_EQ(steelyard::step(), steelyard::Status::inactive);
  EXPECT_NE(steelyard::message().find("steelyard run"), std::string::npos);
}

TEST(Inactive, ARegionDoesNothing) {
  steelyard::ScopedRegion region("a");
  const steelyard::ScopedPause paused;
  EXPECT_EQ(steelyard::region_end("never begun"), steelyard::Status::inactive);
  EXPECT_NE(steelyard::message().find("steelyard run"), std::string::npos);
}

TEST(Inactive, IsNotActiveAndSaysWhy) {
  EXPECT_FALSE(steelyard::active());
  EXPECT_NE(steelyard::message().find("steelyard run"), std::string::npos);
}

TEST(Inactive, SabosNameIsThere) { omp_balanced(); }

TEST(Inactive, TheVersionIsThatOfTheProject) {
  EXPECT_EQ(steelyard::version(), STEELYARD_VERSION);
  EXPECT_EQ(steelyard::version_number(), STEELYARD_VERSION_NUMBER);
}

TEST(Inactive, EachStatusHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int status = STEELYARD_SUCCESS; status <= STEELYARD_ERROR_INTERNAL; ++status)
    names.insert(steelyard::name(static_cast<steelyard::Status>(status)));
  EXPECT_EQ(names.size(), 1U + STEELYARD_ERROR_INTERNAL);
  EXPECT_EQ(steelyard::name(steelyard::Status::peer), "STEELYARD_ERROR_PEER");
  EXPECT_EQ(steelyard::name(static_cast<steelyard::Status>(99)), "unknown status");
}

}  // namespace

#include <gtest/gtest.h>

#include "steelyard/steelyard.hpp"

namespace {

TEST(Inactive, AStepDoesNothingAndSaysHowToStartTheProgram) {
  EXPECT_EQ(steelyard::step(), steelyard::Status::inactive);
  EXPECT_NE(steelyard::message().find("steelyard run"), std::string::npos);
}

TEST(Inactive, IsNotActiveAndSaysWhy) {
  EXPECT_FALSE(steelyard::active());
  EXPECT_NE(steelyard::message().find("steelyard run"), std::string::npos);
}

TEST(Inactive, SabosNameIsThere) { omp_balanced(); }

TEST(Inactive, TheVersionIsThatOfTheProject) { EXPECT_EQ(steelyard::version(), STEELYARD_VERSION); }

}  // namespace

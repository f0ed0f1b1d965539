// SPDX-License-Identifier: BSD-3-Clause
#include "session/decoding.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "partition/known_queries.h"
#include "partition/node_answers.h"
#include "session/short_regions.h"
#include "session/state.h"

namespace steelyard::session {
namespace {

constexpr std::int64_t kLater = 1'000'000'000'000'000;  // ns: time for anything

/// On a node whose processes have used up the loan.
class Decoding : public testing::Test {
 protected:
  void SetUp() override {
    void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    answers_ = static_cast<partition::NodeAnswers*>(memory);
    answers_->add_decoding(kLater);
    partition::share_answers(answers_);
  }
  void TearDown() override {
    partition::share_answers(nullptr);
    munmap(answers_, kBytes);
  }
  bool may(observe::Site& site, std::int64_t now) const { return may_decode(session_, site, nullptr, now); }

 private:
  static constexpr std::size_t kBytes = sizeof(partition::NodeAnswers);
  partition::NodeAnswers* answers_ = nullptr;
  Session session_;
};

TEST_F(Decoding, AShortRegionWithoutTimeAsksSeldom) {
  observe::Site site;
  site.executions = 1;
  site.mean_ns = kShort / 2;
  ASSERT_TRUE(may(site, kLater));
  ASSERT_FALSE(may(site, -kLater)) << "without any time";
  for (int i = 0; i < UINT8_MAX; ++i) ASSERT_FALSE(may(site, kLater)) << i;
  EXPECT_TRUE(may(site, kLater));
}

TEST_F(Decoding, ALongRegionAsksEachTime) {
  observe::Site site;
  ASSERT_FALSE(may(site, -kLater)) << "the first time, when its length is not known";
  site.executions = 1;
  site.mean_ns = 2 * kShort;
  ASSERT_FALSE(may(site, -kLater));
  EXPECT_TRUE(may(site, kLater));
}

TEST_F(Decoding, ARegionThatBecomesLongAsksAtOnce) {
  observe::Site site;
  site.executions = 1;
  site.mean_ns = kShort / 2;
  ASSERT_FALSE(may(site, -kLater));
  site.mean_ns = 2 * kShort;
  EXPECT_TRUE(may(site, kLater));
}

}  // namespace
}  // namespace steelyard::session

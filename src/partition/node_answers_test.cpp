// SPDX-License-Identifier: BSD-3-Clause
#include "partition/node_answers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/hash.h"

namespace steelyard::partition {
namespace {

using Answer = NodeAnswers::Answer;

/// Processes are played by threads.
class NodeAnswersTest : public testing::Test {
 protected:
  static std::uint64_t key(std::uint64_t n) { return base::spread(n + 1); }
  // Value-initialised: zeros, as the memory of a new segment.
  const std::unique_ptr<NodeAnswers> answers_ = std::make_unique<NodeAnswers>();
};

TEST_F(NodeAnswersTest, AnAnswerIsFound) {
  EXPECT_EQ(answers_->find(key(1)), Answer::none);
  EXPECT_TRUE(answers_->add(key(1), true));
  EXPECT_TRUE(answers_->add(key(2), false));
  EXPECT_EQ(answers_->find(key(1)), Answer::proved);
  EXPECT_EQ(answers_->find(key(2)), Answer::unproved);
  EXPECT_EQ(answers_->find(key(3)), Answer::none);
  EXPECT_TRUE(answers_->claim(key(1))) << "nobody is to be waited for";
  EXPECT_EQ(answers_->find(key(1)), Answer::proved);
}

TEST_F(NodeAnswersTest, AClaimKeepsOthersOffUntilItIsAnsweredOrReleased) {
  EXPECT_TRUE(answers_->claim(key(1)));
  EXPECT_FALSE(answers_->claim(key(1)));
  EXPECT_EQ(answers_->find(key(1)), Answer::awaited);
  answers_->release(key(1));
  EXPECT_EQ(answers_->find(key(1)), Answer::none);
  EXPECT_TRUE(answers_->claim(key(1)));
  answers_->add(key(1), true);
  EXPECT_TRUE(answers_->claim(key(1)));
  answers_->release(key(1));
  EXPECT_EQ(answers_->find(key(1)), Answer::proved) << "an answer stays";
}

TEST_F(NodeAnswersTest, OneProcessOfSeveralClaimsAKey) {
  constexpr int kProcesses = 4, kKeys = 1000;
  std::vector<std::atomic<int>> claimed(kKeys);
  std::vector<std::thread> processes;
  for (int process = 0; process < kProcesses; ++process) {
    processes.emplace_back([&] {
      for (int n = 0; n < kKeys; ++n) {
        if (answers_->find(key(n)) == Answer::none && answers_->claim(key(n))) claimed[n].fetch_add(1);
      }
    });
  }
  for (std::thread& process : processes) process.join();
  for (int n = 0; n < kKeys; ++n) {
    EXPECT_EQ(claimed[n].load(), 1);
    EXPECT_TRUE(answers_->add(key(n), n % 2 == 0));
  }
  for (int n = 0; n < kKeys; ++n) EXPECT_EQ(answers_->find(key(n)), n % 2 == 0 ? Answer::proved : Answer::unproved);
}

TEST_F(NodeAnswersTest, WhatHasNoRoomIsNobodys) {
  std::uint64_t n = 0;
  while (answers_->add(key(n), true)) ASSERT_LT(++n, 1000000u);
  EXPECT_GT(n, 1000u);
  EXPECT_EQ(answers_->find(key(n)), Answer::none);
  EXPECT_TRUE(answers_->claim(key(n)));
  EXPECT_TRUE(answers_->claim(key(n))) << "each process decodes it for itself";
  answers_->release(key(n));
  EXPECT_EQ(answers_->find(key(0)), Answer::proved);
}

TEST_F(NodeAnswersTest, TimesAddUp) {
  answers_->add_decoding(3);
  answers_->add_decoding(4);
  EXPECT_EQ(answers_->decoding_ns(), 7);
}

TEST(ProofTime, ExpectsWhatAByteHasTaken) {
  constexpr std::int64_t kPrior = 50'000'000;
  ProofTime time;
  EXPECT_EQ(time.expected(0, kPrior), 0);
  EXPECT_GT(time.expected(100'000, kPrior), kPrior) << "the first proof may be about a long function";
  time.add(5'000'000, 10);
  EXPECT_LT(time.expected(10'000, kPrior), kPrior) << "one slow proof about a short function says little";
  time.add(90'000'000'000, 1'000'000'000);
  EXPECT_NEAR(static_cast<double>(time.expected(1'000'000, kPrior)), 90e6, 1e6);
}

}  // namespace
}  // namespace steelyard::partition

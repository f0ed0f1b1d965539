// SPDX-License-Identifier: BSD-3-Clause
#include "partition/known_queries.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <vector>

#include "partition/node_answers.h"

namespace steelyard::partition {
namespace {

/// A function that takes some time to decode, another one for each test.
template <int Test>
[[gnu::noinline]] void work(void* values) {
  auto& all = *static_cast<std::vector<double>*>(values);
  for (double& value : all) {
    if (value > Test) value = std::sqrt(value) + std::log(value);
    if (value < 0) value = value < -1 ? std::exp(value) : std::sin(value);
  }
}

TEST(KnownQueries, AFunctionIsDecodedOnce) {
  std::vector<double> values{1, 2};
  work<1>(&values);
  const auto* const body = reinterpret_cast<const void*>(&work<1>);
  const std::int64_t before = decoding_ns();
  EXPECT_FALSE(has_unproved_query(body)) << "it has no queries";
  const std::int64_t first = decoding_ns() - before;
  EXPECT_GT(first, 0);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(has_unproved_query(body));
  EXPECT_LT(decoding_ns() - before, 3 * first);
}

TEST(KnownQueries, ALongerBodyIsExpectedToTakeLonger) {
  constexpr std::int64_t kPrior = 1'000'000;
  const auto* const body = reinterpret_cast<const void*>(&work<3>);
  const auto* const shorter = reinterpret_cast<const void*>(&decoding_ns);
  EXPECT_GT(expected_decoding_ns(body, kPrior), 2 * expected_decoding_ns(shorter, kPrior));
  EXPECT_GT(expected_decoding_ns(shorter, kPrior), 0);
  EXPECT_EQ(expected_decoding_ns(nullptr, kPrior), 0);
}

/// A library that this test is not linked to, and code in it.
struct Opened {
  void* library = dlopen("libgfortran.so.5", RTLD_LAZY | RTLD_LOCAL);
  std::uint64_t code = library != nullptr ? reinterpret_cast<std::uint64_t>(dlsym(library, "_gfortran_set_args")) : 0;
};

TEST(KnownQueries, CodeIsForgottenIfItsLibraryIsUnloaded) {
  library_closed();
  const std::uint32_t generation = code_generation();
  const auto has_forgotten = [&] {
    library_closed();
    return code_generation() != generation;
  };
  const Opened first, second;
  if (first.library == nullptr) GTEST_SKIP() << "libgfortran is not here";
  dlclose(second.library);
  dlclose(first.library);
  EXPECT_FALSE(has_forgotten()) << "no code of it is known";
  const Opened again, held;
  follow_code(again.code);
  dlclose(again.library);
  EXPECT_FALSE(has_forgotten()) << "it is still loaded";
  dlclose(held.library);
  EXPECT_TRUE(has_forgotten());
}

TEST(KnownQueries, CodeThatWasDecodedIsForgotten) {
  const Opened opened;
  if (opened.library == nullptr) GTEST_SKIP() << "libgfortran is not here";
  const std::uint32_t generation = code_generation();
  EXPECT_FALSE(has_unproved_query(reinterpret_cast<const void*>(opened.code)));
  dlclose(opened.library);
  library_closed();
  EXPECT_NE(code_generation(), generation);
}

/// In a child, which has this process's memory; waits for it.
template <class Act>
void in_other_process(const Act& act) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(act() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(KnownQueries, OneProcessOfTheNodeDecodesAFunction) {
  void* const memory = mmap(nullptr, sizeof(NodeAnswers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const answers = static_cast<NodeAnswers*>(memory);
  const auto* const body = reinterpret_cast<const void*>(&work<2>);
  EXPECT_TRUE(claim_decoding(body)) << "nothing is shared";
  share_answers(answers);
  EXPECT_TRUE(claim_decoding(body));
  in_other_process([&] { return !claim_decoding(body); });
  release_decoding(body);
  EXPECT_GT(expected_decoding_ns(body, 1'000'000), 0);
  in_other_process([&] {
    return claim_decoding(body) && !claim_decoding(body) && !has_unproved_query(body) && claim_decoding(body);
  });
  const std::int64_t other = decoding_on_node_ns(), before = decoding_ns();
  EXPECT_EQ(expected_decoding_ns(body, 1'000'000), 0) << "the other process has the answer";
  EXPECT_TRUE(claim_decoding(body)) << "it has been decoded";
  EXPECT_FALSE(has_unproved_query(body));
  EXPECT_LT(decoding_ns() - before, other / 2);
  EXPECT_GT(decoding_on_node_ns(), other);
  share_answers(nullptr);
  EXPECT_EQ(decoding_on_node_ns(), decoding_ns());
  munmap(memory, sizeof(NodeAnswers));
}

}  // namespace
}  // namespace steelyard::partition

// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <set>

#include "steelyard/loops.hpp"

extern "C" {
void steelyard_loop_begin_f(steelyard_iterations_t* mine, std::int64_t first, std::int64_t last,
                            const std::int64_t* stride, steelyard_loop_t* const* loop, int* status);
bool steelyard_loop_next_f(steelyard_iterations_t* mine);
void steelyard_loop_end_f(steelyard_iterations_t* mine, int* status);
}

namespace {
int told_threads = 0;  ///< what omp_get_max_threads() answers, where it is not 0
}  // namespace

// Under `steelyard run` a region may have more threads than the program is told. GNU's omp.h says noexcept, LLVM's does
// not.
extern "C" int omp_get_max_threads() noexcept(noexcept(omp_get_max_threads())) {
  static const auto real = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "omp_get_max_threads"));
  return told_threads != 0 ? told_threads : real();
}

namespace {

bool says(const char* words) { return steelyard::message().find(words) != std::string_view::npos; }

/// How often each of so many iterations ran.
class Runs {
 public:
  explicit Runs(std::size_t count) : size_(count), runs_(std::make_unique<std::atomic<int>[]>(count)) {}
  void at(std::size_t i) {
    if (i < size_)
      ++runs_[i];
    else
      ++beyond_;
  }
  bool each(int times) const {
    for (std::size_t i = 0; i < size_; ++i)
      if (runs_[i] != times) return false;
    return beyond_ == 0;
  }
  int sum() const {
    int all = beyond_;
    for (std::size_t i = 0; i < size_; ++i) all += runs_[i];
    return all;
  }

 private:
  std::size_t size_;
  std::unique_ptr<std::atomic<int>[]> runs_;
  std::atomic<int> beyond_ = 0;
};

TEST(LoopsInC, RunEachIterationOnceInAnyShape) {
  for (const int threads : {1, 2, 3, 7}) {
    Runs forward(1000), backward(334), far(10);
    int errors = 0;
#pragma omp parallel num_threads(threads) reduction(+ : errors)
    {
      steelyard_iterations_t mine;
      for (int times = 0; times < 5; ++times) {
        errors += steelyard_loop_begin(nullptr, 0, 1000, 1, &mine) != STEELYARD_SUCCESS;
        while (steelyard_loop_next(&mine))
          for (std::int64_t i = mine.begin; i < mine.end; ++i) forward.at(static_cast<std::size_t>(i));
        errors += steelyard_loop_end(&mine) != STEELYARD_SUCCESS;
        // No thread waits between the loops.
        errors += steelyard_loop_begin(nullptr, 999, -1, -3, &mine) != STEELYARD_SUCCESS;
        while (steelyard_loop_next(&mine))
          for (std::int64_t i = mine.begin; i > mine.end; i += mine.stride)
            backward.at(static_cast<std::size_t>(i / 3));
        errors += steelyard_loop_end(&mine) != STEELYARD_SUCCESS;
        errors += steelyard_loop_begin_unsigned(nullptr, UINT64_MAX - 10, UINT64_MAX, 1, &mine) != STEELYARD_SUCCESS;
        while (steelyard_loop_next(&mine))
          for (auto i = static_cast<std::uint64_t>(mine.begin); i < static_cast<std::uint64_t>(mine.end); ++i)
            far.at(i - (UINT64_MAX - 10));
        errors += steelyard_loop_end(&mine) != STEELYARD_SUCCESS;
        errors += steelyard_loop_begin(nullptr, 5, 5, 1, &mine) != STEELYARD_SUCCESS;
        errors += steelyard_loop_next(&mine) != 0;
        errors += steelyard_loop_end(&mine) != STEELYARD_SUCCESS;
      }
    }
    EXPECT_EQ(errors, 0) << steelyard::message();
    EXPECT_TRUE(forward.each(5)) << threads;
    EXPECT_TRUE(backward.each(5)) << threads;
    EXPECT_TRUE(far.each(5)) << threads;
  }
}

TEST(LoopsInC, TheLastChunkDoesNotGoBeyondTheProgramsBound) {
  steelyard_iterations_t mine;
  ASSERT_EQ(steelyard_loop_begin(nullptr, INT64_MAX - 10, INT64_MAX, 7, &mine), STEELYARD_SUCCESS);
  ASSERT_EQ(steelyard_loop_next(&mine), 1);
  EXPECT_EQ(mine.end, INT64_MAX) << "first + 2 * 7 would overflow";
  EXPECT_EQ(steelyard_loop_next(&mine), 0);
  EXPECT_EQ(steelyard_loop_end(&mine), STEELYARD_SUCCESS);
}

TEST(LoopsInFortran, BoundsAreInclusive) {
  Runs runs(101);
  std::array<int, 3> statuses = {};
#pragma omp parallel num_threads(3)
  {
    steelyard_iterations_t mine;
    int status = -1;
    const std::int64_t stride = -1;
    steelyard_loop_begin_f(&mine, 100, 0, &stride, nullptr, &status);
    statuses[static_cast<std::size_t>(omp_get_thread_num())] = status;
    while (steelyard_loop_next_f(&mine))
      for (std::int64_t i = mine.begin; i >= mine.end; --i) runs.at(static_cast<std::size_t>(i));
    steelyard_loop_end_f(&mine, nullptr);
  }
  EXPECT_EQ(statuses, (std::array<int, 3>{}));
  EXPECT_TRUE(runs.each(1));
}

TEST(LoopsInC, NestedTeamsMeetEachOtherOnly) {
  omp_set_max_active_levels(2);
  Runs runs(100);
  std::atomic<int> errors = 0;
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(2)
  {
    steelyard_iterations_t mine;
    errors += steelyard_loop_begin(nullptr, 0, 100, 1, &mine) != STEELYARD_SUCCESS;
    while (steelyard_loop_next(&mine))
      for (std::int64_t i = mine.begin; i < mine.end; ++i) runs.at(static_cast<std::size_t>(i));
    errors += steelyard_loop_end(&mine) != STEELYARD_SUCCESS;
  }
  EXPECT_EQ(errors, 0) << steelyard::message();
  EXPECT_TRUE(runs.each(3)) << "each of three teams all iterations";
}

/// A place in the program for each number, which the compiler must not make one.
template <int number>
[[gnu::noinline]] steelyard_status_t begin_at(steelyard_loop_t* loop, steelyard_iterations_t* mine) {
  const steelyard_status_t status = steelyard_loop_begin(loop, 0, 100, 1, mine);
  asm volatile("" ::"i"(number));
  return status;
}

TEST(LoopsInC, ThreadsOfOneTeamAtDifferentCallsAreRefused) {
  for (const bool handles : {false, true}) {
    steelyard_loop_t *odd = nullptr, *even = nullptr;
    if (handles) {
      ASSERT_EQ(steelyard_loop_create("odd", nullptr, &odd), STEELYARD_SUCCESS);
      ASSERT_EQ(steelyard_loop_create("even", nullptr, &even), STEELYARD_SUCCESS);
    }
    for (int times = 0; times < 10; ++times) {
      Runs runs(100), together(100);
      std::atomic<int> refused = 0, sentences = 0, errors = 0;
#pragma omp parallel num_threads(2)
      {
        const auto run = [](steelyard_iterations_t& mine, Runs& its) {
          while (steelyard_loop_next(&mine))
            for (std::int64_t i = mine.begin; i < mine.end; ++i) its.at(static_cast<std::size_t>(i));
        };
        steelyard_iterations_t mine;
        const steelyard_status_t begun =
            omp_get_thread_num() % 2 != 0 ? begin_at<1>(odd, &mine) : begin_at<0>(even, &mine);
        if (begun != STEELYARD_SUCCESS) {
          ++refused;
          sentences += says("have begun loop");
        }
        run(mine, runs);
        steelyard_loop_end(&mine);
#pragma omp barrier
        errors += steelyard_loop_begin(nullptr, 0, 100, 1, &mine) != STEELYARD_SUCCESS;
        run(mine, together);
        steelyard_loop_end(&mine);
      }
      EXPECT_EQ(refused, 1);
      EXPECT_EQ(sentences, refused);
      EXPECT_LE(runs.sum(), 100) << "no iteration twice";
      EXPECT_EQ(errors, 0);
      EXPECT_TRUE(together.each(1));
    }
    steelyard_loop_free(odd);
    steelyard_loop_free(even);
  }
  // One handle at several calls is one loop.
  steelyard_loop_t* both = nullptr;
  ASSERT_EQ(steelyard_loop_create("both", nullptr, &both), STEELYARD_SUCCESS);
  Runs runs(100);
#pragma omp parallel num_threads(2)
  {
    steelyard_iterations_t mine;
    omp_get_thread_num() % 2 != 0 ? begin_at<1>(both, &mine) : begin_at<0>(both, &mine);
    while (steelyard_loop_next(&mine))
      for (std::int64_t i = mine.begin; i < mine.end; ++i) runs.at(static_cast<std::size_t>(i));
    steelyard_loop_end(&mine);
  }
  EXPECT_TRUE(runs.each(1));
  steelyard_loop_free(both);
}

TEST(LoopsInC, MistakesAreSentences) {
  steelyard_loop_t* loop = nullptr;
  steelyard_loop_options_t options = STEELYARD_LOOP_OPTIONS_DEFAULT;
  options.strategy = "guidet";
  EXPECT_EQ(steelyard_loop_create("x", &options, &loop), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(loop, nullptr);
  EXPECT_TRUE(says("unknown strategy 'guidet'; did you mean guided?")) << steelyard::message();
  options = STEELYARD_LOOP_OPTIONS_DEFAULT;
  for (const double outside : {1.5, -0.5, std::nan("")}) {
    options.static_fraction = outside;
    EXPECT_EQ(steelyard_loop_create("x", &options, &loop), STEELYARD_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(says("the static fraction is ")) << steelyard::message();
  }
  EXPECT_EQ(steelyard_loop_create("x", nullptr, nullptr), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(steelyard_loop_set_options(nullptr, nullptr), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(steelyard_loop_tie(nullptr, nullptr), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(steelyard_loops_load("/nowhere/loops.json"), STEELYARD_ERROR_SYSTEM);
  EXPECT_TRUE(says("/nowhere/loops.json")) << steelyard::message();
  EXPECT_EQ(steelyard_loop_begin(nullptr, 0, 1, 1, nullptr), STEELYARD_ERROR_INVALID_ARGUMENT);

  steelyard_iterations_t mine = {};
  EXPECT_EQ(steelyard_loop_next(&mine), 0);
  EXPECT_TRUE(says("outside a loop")) << steelyard::message();
  EXPECT_EQ(steelyard_loop_end(&mine), STEELYARD_ERROR_INVALID_STATE);
  EXPECT_EQ(steelyard_loop_next(nullptr), 0);
  steelyard_loop_cancel(&mine);
  EXPECT_EQ(steelyard_loop_begin(nullptr, 0, 10, 0, &mine), STEELYARD_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(says("stride of 0")) << steelyard::message();
  EXPECT_EQ(steelyard_loop_next(&mine), 0) << "and the sentence stays";
  EXPECT_TRUE(says("stride of 0")) << steelyard::message();
  EXPECT_EQ(steelyard_loop_end(&mine), STEELYARD_ERROR_INVALID_ARGUMENT) << "the error of begin";
  ASSERT_EQ(steelyard_loop_begin(nullptr, 0, 10, 1, &mine), STEELYARD_SUCCESS);
  steelyard_iterations_t copy = mine;
  EXPECT_EQ(steelyard_loop_next(&copy), 0) << "a copy is not in the loop";
  EXPECT_EQ(steelyard_loop_end(&mine), STEELYARD_SUCCESS);
  EXPECT_EQ(steelyard_loop_end(&mine), STEELYARD_ERROR_INVALID_STATE) << "ended twice";
  EXPECT_EQ(steelyard_loop_next(&mine), 0);
}

TEST(LoopsInC, LinesOfAFileAreLoopsOfTheirOwn) {
  static constexpr char file[] = "long.cpp";
  std::set<void*> seen;
  constexpr std::array kLines{0, 7, 7 + (1 << 15), 7 + (1 << 16), 1 << 15};
  for (const int line : kLines) {
    steelyard_loop_execution_t execution;
    ASSERT_EQ(steelyard_loop_execution_begin(nullptr, file, line, &execution), STEELYARD_SUCCESS);
    seen.insert(execution.record);
    steelyard_loop_execution_end(&execution);
  }
  EXPECT_EQ(seen.size(), kLines.size());
}

TEST(LoopsInC, AnExecutionThatIsNotEndedIsGivenUpWithTheNextOne) {
  steelyard_loop_t* loop = nullptr;
  ASSERT_EQ(steelyard_loop_create("left", nullptr, &loop), STEELYARD_SUCCESS);
  constexpr int kSteps = 12;
  std::array<std::atomic<std::int64_t>, kSteps> iterations = {};
#pragma omp parallel num_threads(2)
  for (int step = 0; step < kSteps; ++step) {
    steelyard_iterations_t left, mine;
    if (omp_get_thread_num() == 0 && step == 1) {
      EXPECT_EQ(steelyard_loop_begin(loop, 0, 100, 1, &left), STEELYARD_SUCCESS);
      EXPECT_EQ(steelyard_loop_begin(loop, 0, 100, 1, &mine), STEELYARD_ERROR_INVALID_STATE);
      EXPECT_TRUE(says("has not ended its previous execution. Both are cancelled")) << steelyard::message();
      EXPECT_EQ(steelyard_loop_next(&left), 0);
      EXPECT_EQ(steelyard_loop_next(&mine), 0);
      EXPECT_EQ(steelyard_loop_end(&left), STEELYARD_ERROR_INVALID_STATE) << "it is over";
      EXPECT_EQ(steelyard_loop_end(&mine), STEELYARD_ERROR_INVALID_STATE);
      step = 2;
      continue;
    }
    EXPECT_EQ(steelyard_loop_begin(loop, 0, 100, 1, &mine), STEELYARD_SUCCESS) << step << ": " << steelyard::message();
    while (steelyard_loop_next(&mine) != 0) iterations[static_cast<std::size_t>(step)] += mine.end - mine.begin;
    EXPECT_EQ(steelyard_loop_end(&mine), STEELYARD_SUCCESS);
  }
  for (int step = 0; step < kSteps; ++step)
    EXPECT_TRUE(iterations[static_cast<std::size_t>(step)] == 100 || step == 1 || step == 2) << step;
  steelyard_loop_free(loop);
}

TEST(LoopsInC, ALoopOfTwoTeamsAtOnceIsRefused) {
  omp_set_max_active_levels(2);
  steelyard_loop_t* loop = nullptr;
  ASSERT_EQ(steelyard_loop_create("shared", nullptr, &loop), STEELYARD_SUCCESS);
  std::atomic<int> refused = 0, sentences = 0;
#pragma omp parallel num_threads(2)
  {
    // The outer team is inside when the inner ones come.
    steelyard_iterations_t outer;
    steelyard_loop_begin(loop, 0, 100, 1, &outer);
#pragma omp barrier
#pragma omp parallel num_threads(2)
    {
      steelyard_iterations_t inner;
      refused += steelyard_loop_begin(loop, 0, 100, 1, &inner) == STEELYARD_ERROR_INVALID_STATE;
      sentences += says("two teams");
      steelyard_loop_end(&inner);
    }
    while (steelyard_loop_next(&outer)) {
    }
    steelyard_loop_end(&outer);
  }
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(sentences, 4);
  steelyard_loop_free(loop);
}

/// Chunks that two threads take of 100 iterations: one for the static part of each, and those of one iteration.
long chunks_of(const steelyard_loop_options_t& options) {
  steelyard_loop_t* loop = nullptr;
  EXPECT_EQ(steelyard_loop_create("zeros", &options, &loop), STEELYARD_SUCCESS) << steelyard::message();
  long chunks = 0;
#pragma omp parallel num_threads(2) reduction(+ : chunks)
  {
    steelyard_iterations_t mine;
    steelyard_loop_begin(loop, 0, 100, 1, &mine);
    while (steelyard_loop_next(&mine)) ++chunks;
    steelyard_loop_end(&mine);
  }
  steelyard_loop_free(loop);
  return chunks;
}

TEST(LoopsInC, OptionsThatAreLeftOutAreTheDefaults) {
  steelyard_loop_options_t options = {};
  options.strategy = "hybrid";
  options.chunk_size = 1;
  EXPECT_EQ(chunks_of(options), 2 + 10) << "the option loops-static-percent is 90";
  options.static_fraction = 0.5;
  EXPECT_EQ(chunks_of(options), 2 + 50);
}

TEST(LoopsInC, StateAndOptionsOfALoop) {
  steelyard_loop_options_t options = STEELYARD_LOOP_OPTIONS_DEFAULT;
  options.strategy = "staggered";
  options.static_fraction = 0.5;
  steelyard_loop_t* loop = nullptr;
  ASSERT_EQ(steelyard_loop_create("stated", &options, &loop), STEELYARD_SUCCESS);
  steelyard_loop_state_t state;
  ASSERT_EQ(steelyard_loop_get_state(loop, &state), STEELYARD_SUCCESS);
  EXPECT_STREQ(state.strategy, "");
#pragma omp parallel num_threads(2)
  {
    steelyard_iterations_t mine;
    steelyard_loop_begin(loop, 0, 100, 1, &mine);
    while (steelyard_loop_next(&mine)) {
    }
    steelyard_loop_end(&mine);
  }
  ASSERT_EQ(steelyard_loop_get_state(loop, &state), STEELYARD_SUCCESS);
  EXPECT_STREQ(state.strategy, "hybrid+staggered") << "the composition";
  EXPECT_EQ(state.executions, 1);
  EXPECT_GT(state.seconds, 0);
  const std::string path = testing::TempDir() + "loops." + std::to_string(getpid());
  EXPECT_EQ(steelyard_loops_save(path.c_str()), STEELYARD_SUCCESS) << steelyard::message();
  EXPECT_EQ(steelyard_loops_load(path.c_str()), STEELYARD_SUCCESS) << steelyard::message();
  unlink(path.c_str());
  steelyard_loop_free(loop);
}

// After those that tell threads apart: GNU's runtime makes new ones where a team has grown smaller in between.
TEST(LoopsInC, ALoopThatIsCancelledEndsForAllAndTheNextIsWhole) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const bool early : {false, true}) {  // by ending it, or by the call
      Runs given_up(1000), whole(1000);
      std::atomic<int> after = 0;
#pragma omp parallel num_threads(threads)
      {
        steelyard_iterations_t mine;
        for (int times = 0; times < 10; ++times) {
          steelyard_loop_begin(nullptr, 0, 1000, 1, &mine);
          if (steelyard_loop_next(&mine))
            for (std::int64_t i = mine.begin; i < mine.end; ++i) given_up.at(static_cast<std::size_t>(i));
          if (!early) {
            steelyard_loop_cancel(&mine);
            after += steelyard_loop_next(&mine);
          }
          steelyard_loop_end(&mine);
          steelyard_loop_begin(nullptr, 0, 1000, 1, &mine);
          while (steelyard_loop_next(&mine))
            for (std::int64_t i = mine.begin; i < mine.end; ++i) whole.at(static_cast<std::size_t>(i));
          steelyard_loop_end(&mine);
        }
      }
      EXPECT_EQ(after, 0);
      EXPECT_LE(given_up.sum(), 10000);
      EXPECT_TRUE(whole.each(10)) << threads;
    }
  }
}

TEST(ForEach, RunsEachIndexOnceWithAndWithoutALoop) {
  steelyard::Loop loop("for each", {"steal"});
  Runs named(1000), unnamed(1000), chunks(1000), iterators(1000), empty(1);
  std::vector<std::size_t> values(1000);
  std::iota(values.begin(), values.end(), 0);
  for (int times = 0; times < 10; ++times) {
    steelyard::for_each(loop, std::size_t{0}, std::size_t{1000}, [&](std::size_t i) { named.at(i); });
    steelyard::for_each(0, 1000L, [&](long i) { unnamed.at(static_cast<std::size_t>(i)); });
    steelyard::for_each(0, 1000, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) chunks.at(static_cast<std::size_t>(i));
    });
    steelyard::for_each(values.begin(), values.end(), [&](auto at) { iterators.at(*at); });
    steelyard::for_each(3, -3, [&](int) { empty.at(0); });
  }
  EXPECT_TRUE(named.each(10));
  EXPECT_TRUE(unnamed.each(10));
  EXPECT_TRUE(chunks.each(10));
  EXPECT_TRUE(iterators.each(10));
  EXPECT_EQ(empty.sum(), 0);
  EXPECT_STREQ(loop.state().strategy, omp_get_max_threads() > 1 ? "steal" : "");
}

TEST(ForEach, GoesUpToTheLimitsOfEachType) {
  omp_set_num_threads(3);
  const auto check = [](auto first, auto last) {
    Runs runs(100);
    for (int times = 0; times < 5; ++times) {
      steelyard::for_each(first, last, [&](auto i) {
        runs.at(static_cast<std::size_t>(static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(first)));
      });
    }
    EXPECT_TRUE(runs.each(5)) << first;
    Runs none(1);
    steelyard::for_each(last, first, [&](auto) { none.at(0); });
    EXPECT_EQ(none.sum(), 0) << "from the end to the begin there is nothing";
  };
  check(UINT64_MAX - 100, UINT64_MAX);
  check(UINT64_MAX / 2 - 50, UINT64_MAX / 2 + 50);
  check(INT64_MIN, INT64_MIN + 100);
  check(INT64_MAX - 100, INT64_MAX);
  check(INT_MIN, INT_MIN + 100);
  check(UINT_MAX - 100, UINT_MAX);
  check(-50, 50);
  // Downwards by iterators.
  std::vector<int> order(100);
  std::atomic<int> wrong = 0;
  std::iota(order.begin(), order.end(), 0);
  steelyard::for_each(order.rbegin(), order.rend(), [&](auto at) { *at = 100 - *at; });
  for (int i = 0; i < 100; ++i) wrong += order[static_cast<std::size_t>(i)] != 100 - i;
  EXPECT_EQ(wrong, 0);
}

TEST(ForEach, ThrowsTheFirstExceptionAndStartsNoMore) {
  omp_set_num_threads(3);
  steelyard::Loop loop("throws", {"steal", 0, 1});
  Runs runs(100000);
  try {
    steelyard::for_each(loop, 0, 100000, [&](int i) {
      runs.at(static_cast<std::size_t>(i));
      if (i % 100 == 50) throw std::runtime_error("iteration");
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "iteration");
  }
  EXPECT_LT(runs.sum(), 1000) << "each thread stops at its own exception, or before";
  Runs after(1000);
  steelyard::for_each(loop, 0, 1000, [&](int i) { after.at(static_cast<std::size_t>(i)); });
  EXPECT_TRUE(after.each(1)) << "the loop is as good as new";
}

TEST(ForEach, AnExceptionStopsTheOthersInTheMidstOfTheirParts) {
  omp_set_num_threads(3);
  for (const char* strategy : {"static", "hybrid", "tuned"}) {
    steelyard::Loop loop("stops", {strategy, 0.9});
    constexpr int kCount = 30000;
    Runs runs(kCount);
    std::atomic<bool> thrown = false;
    const auto body = [&](int i) {
      runs.at(static_cast<std::size_t>(i));
      if (i == 0) {
        thrown = true;
        throw std::runtime_error("first");
      }
      while (!thrown) sched_yield();
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
      while (std::chrono::steady_clock::now() < until) {
      }
      return i;
    };
    EXPECT_THROW(steelyard::for_each(loop, 0, kCount, body), std::runtime_error);
    EXPECT_LT(runs.sum(), kCount / 3) << strategy;
    thrown = false;
    EXPECT_THROW(steelyard::reduce(loop, 0, kCount, 0, std::plus<>(), body), std::runtime_error);
    EXPECT_LT(runs.sum(), 2 * kCount / 3) << strategy;
  }
}

TEST(ForEach, ALoopInsideOfItselfIsAMistakeAndOneWithoutANameIsNot) {
  omp_set_num_threads(2);
  omp_set_max_active_levels(2);
  steelyard::Loop loop("nested");
  EXPECT_THROW(steelyard::for_each(loop, 0, 4, [&](int) { steelyard::for_each(loop, 0, 4, [](int) {}); }),
               steelyard::Error);
  Runs runs(10);
  std::function<void(int)> recurse = [&](int depth) {
    steelyard::for_each(0, 10, [&](int i) {
      runs.at(static_cast<std::size_t>(i));
      if (depth > 0 && i == 3) recurse(depth - 1);
    });
  };
  recurse(2);
  EXPECT_TRUE(runs.each(3));
}

TEST(ForEach, OptionsThatAreWrongThrow) {
  EXPECT_THROW(steelyard::Loop("x", {"none"}), steelyard::Error);
  EXPECT_THROW(steelyard::Loop("x", {"hybrid", 2}), steelyard::Error);
  steelyard::Loop loop("x", {"hybrid", 1});
  try {
    loop.set_options({"hybrid", std::nan("")});
    FAIL() << "nothing was thrown";
  } catch (const steelyard::Error& error) {
    EXPECT_EQ(error.status(), steelyard::Status::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("the static fraction is "), std::string::npos) << error.what();
  }
  loop.set_options({"static"});
  steelyard::Loop moved(std::move(loop));
  moved.tie(moved);
  EXPECT_THROW(loop.tie(moved), steelyard::Error) << "moved from";
}

TEST(Reduce, AddsUp) {
  omp_set_num_threads(3);
  EXPECT_EQ(steelyard::reduce(0, 10, 100, std::plus<>(), [](int i) { return i; }), 145) << "100 counts once";
  EXPECT_EQ(steelyard::reduce(0, 0, 7, std::plus<>(), [](int i) { return i; }), 7);
  steelyard::Loop loop("reduce");
  for (const int count : {0, 1, 2, 1000}) {
    const long sum = steelyard::reduce(loop, 0, count, 0L, std::plus<>(), [](int i) { return long{i}; });
    EXPECT_EQ(sum, static_cast<long>(count) * (count - 1) / 2);
    const std::string longest = steelyard::reduce(
        0, count, std::string(), [](std::string a, std::string b) { return a.size() < b.size() ? b : a; },
        [](int i) { return std::string(static_cast<std::size_t>(i % 77), 'x'); });
    EXPECT_EQ(longest.size(), static_cast<std::size_t>(std::max(0, std::min(count, 77) - 1)));
  }
}

TEST(Reduce, ARegionMayHaveMoreThreadsThanTheProgramIsTold) {
  omp_set_num_threads(4);
  told_threads = 1;
  steelyard::Loop loop("many", {"static"});
  for (int times = 0; times < 10; ++times)
    EXPECT_EQ(steelyard::reduce(loop, 0, 1000, 0L, std::plus<>(), [](int i) { return long{i}; }), 499500);
  told_threads = 0;
}

}  // namespace

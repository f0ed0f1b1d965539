// SPDX-License-Identifier: BSD-3-Clause
// The typed tasks of steelyard/tasks.hpp under an MPI launcher: any number of ranks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "intercept/mpi/ranks_in_tests.h"
#include "steelyard/tasks.hpp"

namespace {

using steelyard::rank_of;

TEST(Typed, ValuesStringsVectorsAndExceptions) {
  const int rank = rank_of(MPI_COMM_WORLD);
  steelyard::TaskPool<int, double> halves(MPI_COMM_WORLD, [](const int& i) {
    if (i == 13) throw std::runtime_error("thirteen");
    return i / 2.0;
  });
  double sum = 0;
  for (int step = 0; step < 3; ++step) {
    sum = 0;
    for (int i = 0; i < 100; ++i) halves.spawn(i);
    halves.run([&](const int& i, const double& half) {
      EXPECT_EQ(half, i / 2.0);
      sum += half;
    });
    EXPECT_EQ(sum, (4950 - 13) / 2.0);
    ASSERT_EQ(halves.failures().size(), 1u);
    EXPECT_EQ(halves.failures()[0].input, 13);
    EXPECT_EQ(halves.failures()[0].message, "thirteen");
  }

  using Words = steelyard::TaskPool<std::string, std::vector<int>>;
  Words lengths(MPI_COMM_WORLD, [](const std::string& words, Words::Task& task) {
    const std::size_t space = words.find(' ');
    if (space != std::string::npos) task.spawn(words.substr(space + 1));
    if (words == "oops") throw 1;
    return std::vector<int>{static_cast<int>(words.substr(0, space).size()), task.owner()};
  });
  lengths.spawn("one three eleven oops");
  std::map<std::string, int> seen;
  lengths.run([&](const std::string& words, const std::vector<int>& found) {
    EXPECT_EQ(found.at(1), rank);
    seen[words] = found.at(0);
  });
  EXPECT_EQ(seen,
            (std::map<std::string, int>{{"one three eleven oops", 3}, {"three eleven oops", 5}, {"eleven oops", 6}}));
  ASSERT_EQ(lengths.failures().size(), 1u);
  EXPECT_EQ(lengths.failures()[0].input, "oops");

  // What a consumer throws does not leave the others in the run.
  halves.spawn(1);
  EXPECT_THROW(halves.run([](const int&, const double&) { throw std::logic_error("no"); }), std::logic_error);
}

TEST(Typed, SeveralTypesTagsAndFailuresWithoutExceptions) {
  using In = std::variant<int, std::string>;
  using Out = std::variant<double, std::vector<int>>;
  using Both = steelyard::TaskPool<In, Out>;
  Both both(MPI_COMM_WORLD, [](const In& in, Both::Task& task) -> Out {
    if (const int* number = std::get_if<int>(&in)) {
      if (*number == 13) task.fail("not this one");
      if (*number == 14) {
        task.spawn("fourteen", 114);
        task.spawn(13, 113);
      }
      return *number / 2.0;
    }
    const auto& word = std::get<std::string>(in);
    return std::vector<int>(word.begin(), word.end());
  });
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < 50; ++i) both.spawn(i, static_cast<std::uint64_t>(1000 + i));
    both.spawn(std::string("word"));
    std::multiset<std::uint64_t> tags;
    both.run([&](const In& in, const Out& out, std::uint64_t tag) {
      tags.insert(tag);
      if (const int* number = std::get_if<int>(&in)) {
        EXPECT_EQ(tag, 1000u + static_cast<unsigned>(*number));
        EXPECT_EQ(std::get<double>(out), *number / 2.0);
      } else {
        const auto& word = std::get<std::string>(in);
        EXPECT_EQ(tag, word == "word" ? 0u : 114u);
        EXPECT_EQ(std::get<std::vector<int>>(out), std::vector<int>(word.begin(), word.end()));
      }
    });
    std::multiset<std::uint64_t> expected{0, 114};
    for (std::uint64_t i = 0; i < 50; ++i) {
      if (i != 13) expected.insert(1000 + i);
    }
    EXPECT_EQ(tags, expected);
    std::set<std::uint64_t> failed;
    for (const Both::Failure& failure : both.failures()) {
      EXPECT_EQ(std::get<int>(failure.input), 13);
      EXPECT_EQ(failure.message, "not this one");
      failed.insert(failure.tag);
    }
    EXPECT_EQ(failed, (std::set<std::uint64_t>{1013, 113}));
  }
}

TEST(Typed, ARunInARunIsRefusedAndTheOuterOneLosesNothing) {
  steelyard::TaskPool<int, int> squares(MPI_COMM_WORLD, [](const int& i) {
    if (i == 13) throw std::runtime_error("thirteen");
    return i * i;
  });
  for (int i = 0; i < 50; ++i) squares.spawn(i);
  int results = 0, refused = 0;
  squares.run([&](const int& i, const int& square) {
    EXPECT_EQ(square, i * i);
    ++results;
    try {
      squares.run();
    } catch (const steelyard::Error& error) {
      EXPECT_EQ(error.status(), steelyard::Status::invalid_state);
      EXPECT_NE(std::string(error.what()).find("in a run already"), std::string::npos) << error.what();
      ++refused;
    }
  });
  EXPECT_EQ(results, 49);
  EXPECT_EQ(refused, 49);
  EXPECT_EQ(squares.failures().size(), 1u);
  squares.spawn(3);
  squares.run([&](const int&, const int& square) { EXPECT_EQ(square, 9); });
  squares.free();
  EXPECT_THROW(squares.spawn(1), steelyard::Error);
}

/// Is sent as so many bytes.
struct Huge {
  std::size_t bytes;
};

}  // namespace

template <>
struct steelyard::Serializer<Huge> {
  static void pack(const Huge& value, std::string& bytes) { bytes.resize(bytes.size() + value.bytes); }
  static Huge unpack(std::string_view bytes) { return {bytes.size()}; }
};

namespace {

TEST(Typed, AResultThatIsTooLargeIsAFailureWithItsTask) {
  using Makers = steelyard::TaskPool<int, Huge>;
  Makers makers(MPI_COMM_WORLD, [](const int& depth, Makers::Task& task) {
    if (depth > 0) task.spawn(depth - 1);
    return Huge{depth > 0 ? std::size_t{5} : std::size_t{STEELYARD_TASK_MAX_SIZE} + 1};
  });
  const int rank = rank_of(MPI_COMM_WORLD);
  std::size_t bytes = 0;
  if (rank == 0) makers.spawn(1);  // which spawns a task that returns too much
  if (rank == 0) makers.spawn(0);  // and one that no task has spawned
  makers.run([&](const int&, const Huge& huge) { bytes += huge.bytes; });
  EXPECT_EQ(bytes, rank == 0 ? 5u : 0u);
  std::multiset<int> failed;
  for (const Makers::Failure& failure : makers.failures()) {
    failed.insert(failure.input);
    EXPECT_NE(failure.message.find("the result of a task has 1073741825 bytes"), std::string::npos) << failure.message;
  }
  EXPECT_EQ(failed, rank == 0 ? (std::multiset<int>{0, 0}) : std::multiset<int>());
}

TEST(Typed, ThreadsShareTheTasksOfTheirProcess) {
  steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT;
  options.threads = 3;
  int provided = 0;
  MPI_Query_thread(&provided);
  ASSERT_GE(provided, MPI_THREAD_FUNNELED);
  for (const int a_node : {0, 1}) {
    options.ranks_per_node = a_node;
    steelyard::TaskPool<std::vector<char>, std::uint64_t> sums(
        MPI_COMM_WORLD,
        [](const std::vector<char>& bytes) {
          usleep(100);
          return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
        },
        options);
    for (int step = 0; step < 10; ++step) {
      for (std::size_t i = 0; i < 60; ++i) sums.spawn(std::vector<char>(i, 2));
      int results = 0;
      sums.run([&](const std::vector<char>& bytes, const std::uint64_t& sum) {
        EXPECT_EQ(sum, 2 * bytes.size());
        ++results;
      });
      EXPECT_EQ(results, 60);
    }
  }
}

}  // namespace

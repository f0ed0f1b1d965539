// SPDX-License-Identifier: BSD-3-Clause
#include "observe/live.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace steelyard::observe {
namespace {

constexpr int kProcesses = 3;

struct alignas(64) Line {
  char bytes[64];
};

struct Memory {
  std::size_t bytes = LiveBoard::footprint(kProcesses) + node::Segment::footprint<node::Process>(kProcesses);
  std::vector<Line> lines = std::vector<Line>(bytes / sizeof(Line));
  void* data() { return lines.data(); }
  node::Process& process(int p) {
    return reinterpret_cast<node::Process*>(static_cast<char*>(data()) + LiveBoard::footprint(kProcesses))[p];
  }
};

LiveJob::Facts some_job() {
  LiveJob::Facts job = {};
  job.node = 1;
  job.nodes = 2;
  job.ranks = 6;
  job.cores = 12;
  job.start = 1000;
  copy_text(job.version, "0.1.0");
  copy_text(job.host, "node1");
  copy_text(job.batch_job, "77-3");
  copy_text(job.command, std::string(1000, 'x'));
  return job;
}

TEST(Live, IsReadAsItWasWritten) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 2);
  LiveView view;
  EXPECT_FALSE(read_live(memory.data(), memory.bytes, view)) << "not opened yet";
  board.open(some_job());
  board.mine().rank = 5;
  board.mine().owned = 7;
  board.mine().borrowed = 2;
  memory.process(2).in_mpi = 1;
  Totals totals;
  totals.wall = 100;
  totals.mpi_calls = 9;
  board.publish(totals, 1234);
  ASSERT_TRUE(read_live(memory.data(), memory.bytes, view));
  EXPECT_EQ(view.nodes, 2);
  EXPECT_EQ(view.host, "node1");
  EXPECT_EQ(view.batch_job, "77-3");
  EXPECT_EQ(view.command, std::string(255, 'x')) << "cut, and ended";
  ASSERT_EQ(view.processes.size(), 3u);
  EXPECT_EQ(view.processes[2].rank, 5);
  EXPECT_EQ(view.processes[2].cores, 9) << "with borrowed ones";
  EXPECT_EQ(view.processes[2].borrowed, 2);
  EXPECT_TRUE(view.processes[2].in_mpi);
  EXPECT_EQ(view.processes[2].totals.wall, 100);
  EXPECT_EQ(view.processes[2].totals.mpi_calls, 9);
  EXPECT_EQ(view.processes[2].updated, 1234);
  EXPECT_EQ(view.processes[0].updated, 0);
  EXPECT_TRUE(view.decisions.empty());
  EXPECT_FALSE(view.finished());
}

TEST(Live, CountsNoWithdrawnCores) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 0);
  for (int cpu = 0; cpu < 12; ++cpu) board.show_owner(cpu, LiveJob::kFirstProcess + cpu / 4);
  board.open(some_job());
  LiveView view;
  ASSERT_TRUE(read_live(memory.data(), memory.bytes, view));
  EXPECT_EQ(view.cores, 12);
  board.show_owner(3, LiveJob::kWithdrawn);
  board.show_owner(7, LiveJob::kWithdrawn);
  ASSERT_TRUE(read_live(memory.data(), memory.bytes, view));
  EXPECT_EQ(view.cores, 10);
}

TEST(Live, KeepsTheLatestDecisions) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 0);
  board.open(some_job());
  std::vector<DecisionRecord> decisions;
  LiveView view;
  for (int i = 0; i < 7; ++i) {
    DecisionRecord& decision = decisions.emplace_back();
    decision.what = std::to_string(i);
    decision.reason = std::string(500, 'w');
    decision.outcome = Outcome::undone;
    board.publish(decisions);
    ASSERT_TRUE(read_live(memory.data(), memory.bytes, view));
    ASSERT_EQ(view.decisions.size(), std::min<std::size_t>(decisions.size(), LiveJob::kDecisions));
    EXPECT_EQ(view.decisions.back().what, std::to_string(i));
  }
  EXPECT_EQ(view.decisions.front().what, "3");
  EXPECT_EQ(view.decisions.front().reason.size(), 199u);
  EXPECT_EQ(view.decisions.front().outcome, Outcome::undone);
  board.publish(std::vector<DecisionRecord>{});
  ASSERT_TRUE(read_live(memory.data(), memory.bytes, view));
  EXPECT_TRUE(view.decisions.empty());
}

TEST(Live, DoesNotBelieveWhatItDoesNotUnderstand) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 0);
  board.open(some_job());
  auto* job = static_cast<LiveJob*>(memory.data());
  LiveView view;
  ASSERT_TRUE(read_live(job, memory.bytes, view));
  EXPECT_FALSE(read_live(job, memory.bytes - 64, view)) << "more processes than there is room for";
  EXPECT_FALSE(read_live(job, 10, view));
  EXPECT_FALSE(read_live(job, 0, view));
  for (const int wrong : {0, -1, 4, 1 << 30}) {
    job->processes = wrong;
    EXPECT_FALSE(read_live(job, memory.bytes, view)) << wrong;
  }
  job->processes = kProcesses;
  job->process_size += 64;
  EXPECT_FALSE(read_live(job, memory.bytes, view)) << "another version";
  job->process_size -= 64;
  job->turn = 1;
  job->pages[1].count = 1 << 30;
  job->pages[1].decisions[0].outcome = 77;
  std::memset(job->facts.host, 'h', sizeof(job->facts.host));
  ASSERT_TRUE(read_live(job, memory.bytes, view));
  EXPECT_EQ(view.decisions.size(), 4u);
  EXPECT_EQ(view.host.size(), sizeof(job->facts.host));
  job->magic = 7;
  EXPECT_FALSE(read_live(job, memory.bytes, view));
}

/// A file of memory alone with what is in these bytes.
struct File {
  explicit File(const Memory& memory) { put(0, memory.lines.data(), memory.bytes); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(fd); }
  void put(std::size_t place, const void* from, std::size_t bytes) {
    ASSERT_EQ(pwrite(fd, from, bytes, static_cast<off_t>(place)), static_cast<ssize_t>(bytes));
  }
  Found found() {
    view = {};
    return read_live(fd, view);
  }
  int fd = memfd_create("live_test", MFD_CLOEXEC);
  LiveView view;
};

TEST(Live, IsReadFromAFile) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 2);
  EXPECT_EQ(File(memory).found(), Found::nothing) << "not opened yet";
  board.open(some_job());
  board.mine().rank = 5;
  std::vector<DecisionRecord> decisions(1);
  board.publish(decisions);
  File file(memory);
  ASSERT_EQ(file.found(), Found::job);
  EXPECT_EQ(file.view.host, "node1");
  ASSERT_EQ(file.view.processes.size(), 3u);
  EXPECT_EQ(file.view.processes[2].rank, 5);
  EXPECT_EQ(file.view.decisions.size(), 1u);
}

TEST(Live, DoesNotBelieveAFile) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 0);
  board.open(some_job());
  const std::size_t needed = LiveBoard::footprint(kProcesses) + kProcesses * sizeof(node::Process);
  for (const std::size_t left : {needed - 1, sizeof(LiveJob), sizeof(LiveJob) - 64, std::size_t{12}, std::size_t{0}}) {
    File file(memory);
    ASSERT_EQ(ftruncate(file.fd, static_cast<off_t>(left)), 0);
    EXPECT_EQ(file.found(), Found::nothing) << "truncated to " << left;
  }
  for (const std::int32_t wrong : {0, -1, INT32_MIN, 4097, 1 << 30, INT32_MAX}) {
    File file(memory);
    ASSERT_EQ(ftruncate(file.fd, off_t{1} << 40), 0) << "sparse";
    file.put(offsetof(LiveJob, processes), &wrong, sizeof(wrong));
    EXPECT_EQ(file.found(), Found::nothing) << wrong;
    EXPECT_TRUE(file.view.processes.empty());
  }
}

TEST(Live, KnowsThatAFileIsOfAnotherVersion) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 0);
  board.open(some_job());
  File file(memory);
  file.put(7, "4", 1);
  EXPECT_EQ(file.found(), Found::another_version);
  ASSERT_EQ(ftruncate(file.fd, sizeof(LiveJob) / 2), 0);
  EXPECT_EQ(file.found(), Found::another_version) << "with a shorter LiveJob";
  file.put(0, "x", 1);
  EXPECT_EQ(file.found(), Found::nothing);
  File sizes(memory);
  const std::int32_t size = 64;
  sizes.put(offsetof(LiveJob, process_size), &size, sizeof(size));
  EXPECT_EQ(sizes.found(), Found::another_version);
}

TEST(Live, ARequestIsReadOnceAndAnswered) {
  const Memory memory;
  const File file(memory);
  void* const mapped = mmap(nullptr, memory.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const auto segment = node::Segment::over(mapped, memory.bytes);
  LiveBoard board(*segment, kProcesses, 0);
  board.open(some_job());
  auto* job = static_cast<LiveJob*>(mapped);
  LiveRequest request;
  EXPECT_FALSE(board.asked(request));
  const std::uint32_t first = ask_live(file.fd, {0, 3, 4095}, 77).value_or(0);
  ASSERT_TRUE(board.asked(request));
  EXPECT_EQ(to_text(request.cpus), "0,3,4095");
  EXPECT_EQ(request.who, "user 77 (steelyard cores)");
  board.answer(request.number, std::string(500, 'r'));
  EXPECT_EQ(read_answer(file.fd)->number, first);
  EXPECT_EQ(read_answer(file.fd)->refusal, std::string(199, 'r'));
  EXPECT_FALSE(board.asked(request)) << "answered";

  job->request.number = first + 1;
  EXPECT_FALSE(board.asked(request)) << "being written";
  const std::uint32_t next = ask_live(file.fd, {1}, 77).value_or(0);
  EXPECT_EQ(next, first + 2) << "the command that wrote has died";
  ASSERT_TRUE(board.asked(request));
  EXPECT_EQ(to_text(request.cpus), "1");
  munmap(mapped, memory.bytes);
  ASSERT_EQ(ftruncate(file.fd, 0), 0);
  EXPECT_FALSE(ask_live(file.fd, {1}, 77));
  EXPECT_FALSE(read_answer(file.fd));
}

TEST(Live, ShowsOwners) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 0);
  board.open(some_job());
  for (const int cpu : {2, 3, 4095}) board.show_owner(cpu, LiveJob::kFirstProcess + 1);
  board.show_owner(5, LiveJob::kWithdrawn);
  for (const int none : {-1, 4096}) board.show_owner(none, LiveJob::kWithdrawn);
  LiveView view;
  ASSERT_TRUE(read_live(memory.data(), memory.bytes, view));
  EXPECT_EQ(to_text(view.owned()), "2-3,4095");
  EXPECT_EQ(to_text(view.cpus_of(LiveJob::kFirstProcess + 1)), "2-3,4095");
  EXPECT_EQ(to_text(view.cpus_of(LiveJob::kWithdrawn)), "5");
}

TEST(Live, ReadsTextsThatATerminalCanShow) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 0);
  LiveJob::Facts facts = some_job();
  copy_text(facts.host, "n\0331");
  copy_text(facts.command, "./a\033[2J\n");
  copy_text(facts.immovable_reason,
            "\xc2\x9b"
            "2J");
  board.open(facts);
  std::vector<DecisionRecord> decisions(1);
  decisions[0].what = "\033c";
  board.publish(decisions);
  LiveView view;
  ASSERT_TRUE(read_live(memory.data(), memory.bytes, view));
  EXPECT_EQ(view.host, "n?1");
  EXPECT_EQ(view.command, "./a?[2J?");
  EXPECT_EQ(view.immovable_reason, "?2J");
  EXPECT_EQ(view.decisions.at(0).what, "?c");
}

TEST(Live, IsFinishedOnceAllAre) {
  Memory memory;
  const auto segment = node::Segment::over(memory.data(), memory.bytes);
  LiveBoard board(*segment, kProcesses, 0);
  board.open(some_job());
  LiveView view;
  for (int p = 0; p < kProcesses; ++p) {
    ASSERT_TRUE(read_live(memory.data(), memory.bytes, view));
    EXPECT_FALSE(view.finished());
    memory.process(p).finished = 1;
  }
  ASSERT_TRUE(read_live(memory.data(), memory.bytes, view));
  EXPECT_TRUE(view.finished());
}

}  // namespace
}  // namespace steelyard::observe

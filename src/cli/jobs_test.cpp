// SPDX-License-Identifier: BSD-3-Clause
#include "cli/jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <thread>

#include "cli/test_support.h"

namespace steelyard::cli {
namespace {

using namespace testing_support;
using observe::LiveJob;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Something in shared memory that this process holds open under the name of a segment, as the leader of a job does.
class Held {
 public:
  explicit Held(mode_t kind, std::string_view bytes = "") {
    static int count = 0;
    const auto path = fmt::format("/dev/shm/steelyard-{}-{}-test{}", getuid(), getpid(), ++count);
    EXPECT_EQ(mknod(path.c_str(), kind | 0600, 0), 0) << path;
    // A FIFO without a writer: open() for reading waits, unless by O_NONBLOCK.
    file_ = open(path.c_str(), (kind == S_IFIFO ? O_RDONLY | O_NONBLOCK : O_RDWR) | O_CLOEXEC);
    unlink(path.c_str());
    if (kind == S_IFIFO) return;
    EXPECT_EQ(write(file_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { close(file_); }
  /// As the kernel lists it.
  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_); }
  int file() const { return file_; }

 private:
  int file_ = -1;
};

/// A job with one process, this one, which owns CPUs 0 and 1, in a segment.
std::string some_job() {
  std::string bytes(observe::LiveBoard::footprint(1) + node::Segment::footprint<node::Process>(1), 0);
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> lines(bytes.size() / sizeof(Line));
  const auto segment = node::Segment::over(lines.data(), bytes.size());
  LiveJob::Facts facts = {};
  observe::copy_text(facts.command, "./of-jobs-test");
  facts.resizable = 1;
  observe::LiveBoard board(*segment, 1, 0);
  board.mine().pid = getpid();
  for (const int cpu : {0, 1}) board.show_owner(cpu, LiveJob::kFirstProcess);
  board.open(facts);
  bytes.assign(lines.front().bytes, bytes.size());
  return bytes;
}

std::string some_job_of_another_version() {
  std::string bytes = some_job();
  bytes[7] = '0';  // of LiveJob::kMagic
  return bytes;
}

/// A folder in which the kernel lists this process alone.
class Jobs : public testing::Test {
 protected:
  void SetUp() override {
    proc_.write("proc/version", "");
    std::filesystem::create_symlink(fmt::format("/proc/{}", getpid()), proc_ / "proc/1");
  }
  std::vector<RunningJob> find() { return find_running_jobs(others_, proc_ / "proc"); }

  Scratch proc_;
  int others_ = 0;
};

TEST_F(Jobs, AreFoundOnce) {
  const Held job(S_IFREG, some_job());
  const int second = dup(job.file());
  const auto found = find();
  close(second);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].view.command, "./of-jobs-test");
  EXPECT_EQ(found[0].owner, getuid());
  EXPECT_EQ(others_, 0);
}

TEST_F(Jobs, AreRegularFilesOfTheirUser) {
  const Held fifo(S_IFIFO), empty(S_IFREG), wrong(S_IFREG, std::string(1 << 20, 'x'));
  EXPECT_TRUE(find().empty());
  EXPECT_EQ(others_, 0);
  for (const int access : {O_RDONLY, O_RDWR}) EXPECT_EQ(open_segment(fifo.path(), getuid(), access), -1);
  const Held job(S_IFREG, some_job());
  EXPECT_EQ(find().size(), 1u);
  EXPECT_EQ(open_segment(job.path(), getuid() + 1, O_RDWR), -1) << "another user's";
  const int file = open_segment(job.path(), getuid(), O_RDWR);
  EXPECT_GE(file, 0);
  close(file);
}

TEST_F(Jobs, WithAWildCountAreNone) {
  std::string bytes = some_job();
  reinterpret_cast<LiveJob*>(bytes.data())->processes = 1 << 30;
  const Held job(S_IFREG, bytes);
  ASSERT_EQ(ftruncate(job.file(), off_t{1} << 40), 0);
  EXPECT_TRUE(find().empty());
}

TEST_F(Jobs, MayTruncateTheirSegmentAtAnyTime) {
  const Held job(S_IFREG, some_job());
  std::atomic<bool> ended = false;
  std::thread truncates([&] {
    constexpr off_t kNumber = offsetof(LiveJob, request) + offsetof(LiveJob::Request, number);
    for (std::uint32_t number = 0; number != 2 && !ended; usleep(1000))
      pread(job.file(), &number, sizeof(number), kNumber);
    EXPECT_EQ(ftruncate(job.file(), 0), 0);
  });
  const auto ran = shell(fmt::format("{} cores {} --set=0", STEELYARD_TEST_PROGRAM, getpid()));
  ended = true;
  truncates.join();
  EXPECT_EQ(ran.status, 1) << "no SIGBUS";
  EXPECT_THAT(ran.output, HasSubstr("has ended before it changed its cores"));
}

TEST_F(Jobs, MayEndWhileAnotherCommandWritesARequest) {
  const Held job(S_IFREG, some_job());
  ASSERT_EQ(flock(job.file(), LOCK_EX), 0);
  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  ASSERT_GE(inotify_add_watch(watch, job.path().c_str(), IN_ACCESS), 0);
  std::atomic<bool> ended = false;
  std::thread truncates([&] {
    // The command reads the job 8 times before it tries to write, then again and again.
    for (int seen = 0; seen < 20 && !ended; usleep(1000)) {
      char events[4096];
      if (read(watch, events, sizeof(events)) > 0) ++seen;
    }
    EXPECT_EQ(ftruncate(job.file(), 0), 0);
  });
  const auto ran = shell(fmt::format("{} cores {} --set=0 --wait=30", STEELYARD_TEST_PROGRAM, getpid()));
  ended = true;
  truncates.join();
  close(watch);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("has ended before the request was written"));
}

TEST_F(Jobs, WithoutARequestHaveAReason) {
  const Held job(S_IFREG, some_job());
  const std::string command = fmt::format("{} cores {} --set=0 --wait=0", STEELYARD_TEST_PROGRAM, getpid());
  const auto unwritten = shell("trap '' XFSZ; ulimit -f 0; " + command);
  EXPECT_EQ(unwritten.status, 1);
  EXPECT_THAT(unwritten.output, ContainsRegex("cannot write the request to /proc/.*: File too large"));
  ASSERT_EQ(flock(job.file(), LOCK_EX), 0);
  const auto locked = shell(command);
  EXPECT_EQ(locked.status, 1);
  EXPECT_THAT(locked.output, HasSubstr("another `steelyard cores` is writing a request for ./of-jobs-test (PID"));
}

TEST_F(Jobs, ChangeOnlyByName) {
  const Held job(S_IFREG, some_job());
  const auto ran = shell(fmt::format("{} cores --shrink=1 --wait=0", STEELYARD_TEST_PROGRAM));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, ContainsRegex("`steelyard cores .* --shrink=1`"));
  EXPECT_THAT(ran.output, HasSubstr(fmt::format("./of-jobs-test (PID {})", getpid())));
  EXPECT_EQ(observe::read_answer(job.file()).value_or(observe::LiveAnswer{1, ""}).number, 0u);
  EXPECT_EQ(shell(fmt::format("{} cores --wait=0", STEELYARD_TEST_PROGRAM)).status, 0) << "shows";
}

TEST_F(Jobs, OfAnotherVersionAreTold) {
  const Held job(S_IFREG, some_job_of_another_version());
  EXPECT_TRUE(find().empty());
  EXPECT_EQ(others_, 1);
  EXPECT_EQ(of_other_versions(0), "");
  EXPECT_EQ(of_other_versions(1), "1 job of another version of Steelyard runs here, and cannot be read");
  EXPECT_THAT(of_other_versions(2), HasSubstr("2 jobs of other versions"));
  const auto told = ContainsRegex("steelyard: [0-9]+ jobs? of .* cannot be read\n");
  for (const char* words : {"top --once", "top --once --json", "top --prometheus", "cores"}) {
    const std::string command = fmt::format("{} {}", STEELYARD_TEST_PROGRAM, words);
    EXPECT_THAT(shell(command + " 2>&1 >/dev/null").output, told) << words;
    EXPECT_THAT(shell(command + " 2>/dev/null").output, Not(HasSubstr("cannot be read"))) << words;
  }
}

}  // namespace
}  // namespace steelyard::cli

#include "base/whole_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace steelyard::base {
namespace {

namespace fs = std::filesystem;

class WholeFile : public testing::Test {
 protected:
  WholeFile() {
    char name[] = "/tmp/steelyard-whole-file-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~WholeFile() override { fs::remove_all(folder_); }
  std::string path() const { return folder_ / "record.json"; }
  std::string content() const {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }
  fs::path folder_;
};

TEST_F(WholeFile, ReplacesWhatWasThere) {
  ASSERT_EQ(write_whole_file(path(), "a longer text of before"), 0);
  ASSERT_EQ(write_whole_file(path(), "text"), 0);
  EXPECT_EQ(content(), "text");
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFile, LeavesNothingIncompleteWhereThereIsNoSpace) {
  ASSERT_EQ(write_whole_file(path(), "before"), 0);
  // A limit on file sizes stands for a full disk: both stop a write in its midst.
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const int error = write_whole_file(path(), std::string(100'000, 'x'));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, EFBIG);
  EXPECT_EQ(content(), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFile, GoesThroughALink) {
  const fs::path real = folder_ / "real.json";
  ASSERT_EQ(write_whole_file(real, "before"), 0);
  fs::create_symlink("real.json", path());
  ASSERT_EQ(write_whole_file(path(), "after"), 0);
  EXPECT_TRUE(fs::is_symlink(path()));
  EXPECT_EQ(content(), "after");
}

TEST_F(WholeFile, WritesToADeviceDirectly) {
  EXPECT_EQ(write_whole_file("/dev/null", "text"), 0);
  EXPECT_EQ(write_whole_file("/dev/full", "text"), ENOSPC);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WholeFile, SaysWhyItCannot) { EXPECT_EQ(write_whole_file(folder_ / "none" / "record.json", "text"), ENOENT); }

}  // namespace
}  // namespace steelyard::base

// SPDX-License-Identifier: BSD-3-Clause
#include "base/whole_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {
int rename_error = 0;  // what the next calls of rename fail with; 0: they rename
int renames = 0;
}  // namespace

// Takes the place of the C library's, for errors that need a mount or another user.
extern "C" int rename(const char* from, const char* to) noexcept {
  ++renames;
  if (rename_error == 0) return renameat(AT_FDCWD, from, AT_FDCWD, to);
  errno = rename_error;
  return -1;
}

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

TEST_F(WholeFile, CreatesTheTargetOfADanglingLink) {
  fs::create_directory(folder_ / "records");
  fs::create_symlink("records/first.json", folder_ / "second.json");
  fs::create_symlink(folder_ / "second.json", path());
  ASSERT_EQ(write_whole_file(path(), "text"), 0);
  EXPECT_TRUE(fs::is_symlink(path()));
  EXPECT_TRUE(fs::is_symlink(folder_ / "second.json"));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder_ / "records" / "first.json")));
  EXPECT_EQ(content(), "text");
}

TEST_F(WholeFile, LeavesACycleOfLinks) {
  fs::create_symlink("record.json", path());
  EXPECT_EQ(write_whole_file(path(), "text"), ELOOP);
  EXPECT_TRUE(fs::is_symlink(path()));
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFile, WritesDirectlyWhereTheRenameIsRefused) {
  for (const int error : {EACCES, EPERM, EROFS, EBUSY}) {
    ASSERT_EQ(write_whole_file(path(), "a longer text of before"), 0);
    rename_error = error;
    renames = 0;
    const int result = write_whole_file(path(), "text");
    rename_error = 0;
    EXPECT_EQ(result, 0) << error;
    EXPECT_EQ(renames, 1) << error;
    EXPECT_EQ(content(), "text") << error;
    EXPECT_EQ(files(), 1) << error;
  }
}

TEST_F(WholeFile, KeepsTheFileWhereTheRenameFailsOtherwise) {
  ASSERT_EQ(write_whole_file(path(), "before"), 0);
  rename_error = EIO;
  const int result = write_whole_file(path(), "text");
  rename_error = 0;
  EXPECT_EQ(result, EIO);
  EXPECT_EQ(content(), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFile, WritesDirectlyWhereTheDirectoryIsNotWritable) {
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(write_whole_file(path(), "a longer text of before"), 0);
  fs::permissions(path(), fs::perms(0666));
  fs::permissions(folder_, fs::perms(0555));
  // Permissions do not bind root.
  const bool root = geteuid() == 0;
  if (root && seteuid(kNobody) != 0) GTEST_SKIP() << "root cannot become another user here";
  const int beside = open((folder_ / "beside").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  const int refused = errno;
  const int result = write_whole_file(path(), "text");
  const int none = write_whole_file(folder_ / "new.json", "text");
  ASSERT_EQ(root ? seteuid(0) : 0, 0);
  fs::permissions(folder_, fs::perms(0755));
  ASSERT_EQ(beside, -1);
  ASSERT_EQ(refused, EACCES);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(content(), "text");
  EXPECT_EQ(none, EACCES);
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFile, WritesToADeviceDirectly) {
  EXPECT_EQ(write_whole_file("/dev/null", "text"), 0);
  EXPECT_EQ(write_whole_file("/dev/full", "text"), ENOSPC);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WholeFile, CreatesAFileOfAFreeName) {
  const std::string names[] = {"record.json", "record-2.json", "record-3.json", "record.json.5", "record-2.json.5"};
  for (const std::string& expected : names) {
    std::string name = folder_ / (expected.ends_with("5") ? "record.json.5" : "record.json");
    EXPECT_EQ(create_free_file(name), 0);
    EXPECT_EQ(name, folder_ / expected);
    EXPECT_TRUE(fs::is_empty(folder_ / expected));
  }
  std::string name = folder_ / "none" / "record.json";
  EXPECT_EQ(create_free_file(name), ENOENT);
}

TEST_F(WholeFile, OfAFreeNameNeedsItsFolderAlone) {
  std::string name = folder_ / "none" / "record.json";
  EXPECT_EQ(check_free_file(name), ENOENT);
  fs::create_directories(name);
  EXPECT_EQ(check_free_file(name), 0) << "the name is in use";
  EXPECT_EQ(create_free_file(name), 0);
  EXPECT_EQ(name, folder_ / "none" / "record-2.json");
  EXPECT_EQ(check_free_file(name + "/record.json"), ENOTDIR);
}

TEST_F(WholeFile, SaysWhyItCannot) { EXPECT_EQ(write_whole_file(folder_ / "none" / "record.json", "text"), ENOENT); }

TEST_F(WholeFile, IsCheckedBeforeItIsWritten) {
  const auto agrees = [](const std::string& where) {
    const int expected = check_json_file(where);
    EXPECT_EQ(write_whole_file(where, "{}"), expected) << where;
    return expected;
  };
  EXPECT_EQ(check_json_file(path()), 0);
  EXPECT_FALSE(fs::exists(path())) << "nothing is created";
  EXPECT_EQ(agrees(path()), 0);
  EXPECT_EQ(agrees(path()), 0) << "replaced";
  EXPECT_EQ(write_whole_file(path(), "#!/bin/sh"), 0);
  EXPECT_EQ(check_json_file(path()), EEXIST) << "a file of another kind stays";
  EXPECT_EQ(agrees(folder_.string()), EISDIR);
  EXPECT_EQ(agrees((folder_ / "none/record.json").string()), ENOENT);
  EXPECT_EQ(agrees(path() + "/record.json"), ENOTDIR);
  EXPECT_EQ(agrees("/dev/null"), 0);
  fs::create_symlink(folder_ / "none/target", folder_ / "link");
  EXPECT_EQ(agrees((folder_ / "link").string()), ENOENT);
  if (geteuid() == 0) return;  // may write everywhere
  EXPECT_EQ(write_whole_file(path(), "{}"), 0);
  fs::permissions(path(), fs::perms::owner_read);
  EXPECT_EQ(check_json_file(path()), EACCES) << "the user protects it";
  fs::permissions(path(), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(agrees((folder_ / "other.json").string()), EACCES);
  EXPECT_EQ(agrees(path()), 0) << "the file itself can be written";
  fs::permissions(folder_, fs::perms::owner_all);
}

}  // namespace
}  // namespace steelyard::base

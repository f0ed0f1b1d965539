// SPDX-License-Identifier: BSD-3-Clause
#include "base/locate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace steelyard::base {
namespace {

namespace fs = std::filesystem;

TEST(Locate, FindsWhatExecvpWouldRun) {
  std::string pattern = (fs::temp_directory_path() / "steelyard-locate-XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  const auto first = (folder / "first").string(), bin = (folder / "bin").string();
  const auto tool = bin + "/tool", plain = first + "/tool", path = first + "::" + bin;
  for (const auto& file : {tool, plain}) {
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << "#!/bin/sh\n";
  }
  ASSERT_EQ(chmod(tool.c_str(), 0755), 0);
  ASSERT_EQ(chmod(plain.c_str(), 0644), 0);
  const auto found = locate("tool", path);
  EXPECT_EQ(found.path, tool) << "a file that is not executable is passed over";
  EXPECT_EQ(found.error, 0);
  EXPECT_EQ(locate(tool, "").error, 0);
  EXPECT_EQ(locate("tool", first).error, EACCES);
  EXPECT_EQ(locate("absent", path).error, ENOENT);
  EXPECT_EQ(locate(plain, "").error, EACCES);
  EXPECT_EQ(locate(bin, "").error, EACCES) << "a directory";
  EXPECT_EQ(locate("", path).error, ENOENT);
  EXPECT_EQ(locate(std::string(PATH_MAX, 'x'), path).error, ENOENT);
  fs::current_path(bin);
  EXPECT_STREQ(locate("tool", first + ":").path, "./tool");
  EXPECT_STREQ(locate("sh", "").path + std::string(locate("sh", "").path).rfind('/'), "/sh");
  fs::current_path("/");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace steelyard::base

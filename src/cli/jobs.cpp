// SPDX-License-Identifier: BSD-3-Clause
#include "cli/jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace steelyard::cli {
namespace {

namespace fs = std::filesystem;
using observe::LiveView;

/// Files in shared memory that this process has open, and that Steelyard of this user has made.
std::vector<std::string> shared_files(const fs::path& process, uid_t user) {
  const std::string prefix = fmt::format("/dev/shm/steelyard-{}-", user);
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(process / "fd", error)) {
    std::error_code gone;
    if (fs::read_symlink(entry.path(), gone).string().starts_with(prefix)) files.push_back(entry.path().string());
  }
  return files;
}

/// Reads what is in the file, once. `seen`: files that were read before: children of fork() have the same one open.
bool look_into(const std::string& path, std::set<std::pair<dev_t, ino_t>>& seen, LiveView& view) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat status = {};
  bool read = false;
  if (fstat(fd, &status) == 0 && status.st_size > 0 && seen.insert({status.st_dev, status.st_ino}).second) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) {
      read = observe::read_live(memory, bytes, view);
      munmap(memory, bytes);
    }
  }
  close(fd);
  return read;
}

}  // namespace

std::vector<RunningJob> find_running_jobs(const std::string& proc) {
  std::vector<RunningJob> jobs;
  std::set<std::pair<dev_t, ino_t>> seen;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(proc, error)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    struct stat owner = {};
    if (stat(entry.path().c_str(), &owner) != 0 || (owner.st_uid != getuid() && getuid() != 0)) continue;
    for (const auto& file : shared_files(entry.path(), owner.st_uid)) {
      if (LiveView view; look_into(file, seen, view) && !view.finished()) jobs.push_back({std::move(view), file});
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.view.start < b.view.start; });
  return jobs;
}

std::vector<LiveView> find_jobs(const std::string& proc) {
  std::vector<LiveView> views;
  for (RunningJob& job : find_running_jobs(proc)) views.push_back(std::move(job.view));
  return views;
}

}  // namespace steelyard::cli

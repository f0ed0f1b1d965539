// SPDX-License-Identifier: BSD-3-Clause
#include "cli/jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace steelyard::cli {
namespace {

namespace fs = std::filesystem;
using observe::Found;
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
Found look_into(const std::string& path, uid_t owner, std::set<std::pair<dev_t, ino_t>>& seen, LiveView& view) {
  const int fd = open_segment(path, owner, O_RDONLY);
  if (fd < 0) return Found::nothing;
  struct stat status = {};
  Found found = Found::nothing;
  if (fstat(fd, &status) == 0 && seen.insert({status.st_dev, status.st_ino}).second)
    found = observe::read_live(fd, view);
  close(fd);
  return found;
}

}  // namespace

// The path is a link of the kernel's under /proc, which leads to the open file itself. O_NONBLOCK: a FIFO without a
// writer must not stop this command, nor a lease.
int open_segment(const std::string& path, uid_t owner, int access) {
  const int fd = open(path.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status = {};
  if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == owner)) return fd;
  close(fd);
  return -1;
}

std::vector<RunningJob> find_running_jobs(int& others, const std::string& proc) {
  std::vector<RunningJob> jobs;
  others = 0;
  std::set<std::pair<dev_t, ino_t>> seen;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(proc, error)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    struct stat owner = {};
    if (stat(entry.path().c_str(), &owner) != 0 || (owner.st_uid != getuid() && getuid() != 0)) continue;
    for (const auto& file : shared_files(entry.path(), owner.st_uid)) {
      LiveView view;
      const Found found = look_into(file, owner.st_uid, seen, view);
      if (found == Found::another_version) ++others;
      if (found == Found::job && !view.finished()) jobs.push_back({std::move(view), file, owner.st_uid});
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.view.start < b.view.start; });
  return jobs;
}

std::vector<LiveView> find_jobs(int& others) {
  std::vector<LiveView> views;
  for (RunningJob& job : find_running_jobs(others)) views.push_back(std::move(job.view));
  return views;
}

std::string of_other_versions(int jobs) {
  if (jobs == 0) return "";
  return jobs == 1 ? "1 job of another version of Steelyard runs here, and cannot be read"
                   : fmt::format("{} jobs of other versions of Steelyard run here, and cannot be read", jobs);
}

}  // namespace steelyard::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace steelyard::base {
namespace {

int write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

int write_to(const std::string& path, int flags, const std::string& text) {
  const int file = open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  const int error = write_all(file, text);
  // A network file system may say only here that there is no space.
  return close(file) != 0 && error == 0 ? errno : error;
}

// The path that `path` leads to through symbolic links. std::filesystem resolves no link whose target does not exist.
std::string target_of(const std::string& path) {
  constexpr int kLinks = 40;  // Format: the kernel follows no more; see path_resolution(7)
  std::filesystem::path target = path;
  std::error_code failed;
  for (int links = 0; links < kLinks; ++links) {
    const auto link = std::filesystem::read_symlink(target, failed);
    if (failed) break;
    target = target.parent_path() / link;
  }
  return target.string();
}

// Whether a temporary file or a rename can fail so although the file itself can be written.
bool is_refused_beside(int error) { return error == EACCES || error == EPERM || error == EROFS || error == EBUSY; }

int check_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path() / ".";  // the dot: ENOTDIR if it is a file
  return access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

}  // namespace

int write_whole_file(const std::string& path, const std::string& text) {
  struct stat present{};
  const bool exists = stat(path.c_str(), &present) == 0;
  if (!exists && errno != ENOENT) return errno;
  if (exists && !S_ISREG(present.st_mode)) return write_to(path, 0, text);
  // The rename must replace the file and not the link.
  const std::string target = target_of(path);
  const std::string beside = fmt::format("{}.{}", target, getpid());
  int error = write_to(beside, O_CREAT | O_TRUNC, text);
  if (error == 0 && std::rename(beside.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) std::remove(beside.c_str());
  return is_refused_beside(error) ? write_to(target, O_CREAT | O_TRUNC, text) : error;
}

int check_json_file(const std::string& path) {
  struct stat present{};
  const bool exists = stat(path.c_str(), &present) == 0;
  if (!exists && errno != ENOENT) return errno;
  if (exists && S_ISDIR(present.st_mode)) return EISDIR;
  if (exists && S_ISREG(present.st_mode) && present.st_size > 0 && std::ifstream(path).peek() != '{') return EEXIST;
  if (exists) return access(path.c_str(), W_OK) == 0 ? 0 : errno;
  return check_folder_of(target_of(path));
}

std::string json_file_error(int error) {
  return error == EEXIST ? "this file exists and is not a run record" : std::strerror(error);
}

int check_free_file(const std::string& path) { return check_folder_of(path); }

int create_free_file(std::string& path) {
  const std::size_t place = std::min(path.rfind(".json"), path.size());
  std::string name = path;
  for (int next = 2;; ++next) {
    const int file = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file >= 0) {
      close(file);
      path = name;
      return 0;
    }
    if (errno != EEXIST) return errno;
    name = fmt::format("{}-{}{}", path.substr(0, place), next, path.substr(place));
  }
}

}  // namespace steelyard::base

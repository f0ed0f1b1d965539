#include "base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

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

}  // namespace

int write_whole_file(const std::string& path, const std::string& text) {
  struct stat present{};
  const bool exists = stat(path.c_str(), &present) == 0;
  if (exists && !S_ISREG(present.st_mode)) return write_to(path, 0, text);
  // Through symbolic links, so that the rename replaces the file and not the link.
  std::error_code failed;
  const auto target = exists ? std::filesystem::canonical(path, failed).string() : path;
  const std::string& goal = failed ? path : target;
  const std::string beside = fmt::format("{}.{}", goal, getpid());
  int error = write_to(beside, O_CREAT | O_TRUNC, text);
  if (error == 0 && std::rename(beside.c_str(), goal.c_str()) != 0) error = errno;
  if (error != 0) std::remove(beside.c_str());
  return error;
}

}  // namespace steelyard::base

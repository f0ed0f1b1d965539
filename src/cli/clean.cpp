#include "cli/clean.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/log.h"

namespace steelyard::cli {
namespace {

/// The process that made it, by the name "steelyard-UID-PID-ANYTHING"; 0 where it is nobody's of this user.
pid_t maker(const std::string& name) {
  const std::string mine = fmt::format("steelyard-{}-", getuid());
  return name.starts_with(mine) ? static_cast<pid_t>(std::atol(name.c_str() + mine.size())) : 0;
}

bool lives(pid_t process) { return kill(process, 0) == 0 || errno == EPERM; }

}  // namespace

int clean(const std::string& directory) {
  int removed = 0, kept = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const pid_t process = maker(entry.path().filename().string());
    if (process <= 0) continue;
    if (lives(process)) {
      ++kept;
    } else if (std::error_code refused; std::filesystem::remove(entry.path(), refused)) {
      ++removed;
    } else {
      base::say(fmt::format("cannot remove {}: {}", entry.path().string(), refused.message()));
      return 1;
    }
  }
  if (error) {
    base::say(fmt::format("cannot look into {}: {}", directory, error.message()));
    return 1;
  }
  fmt::print("{} leftover{} of runs that died removed from {}{}\n", removed, removed == 1 ? "" : "s", directory,
             kept == 0 ? "" : fmt::format("; {} of running programs kept", kept));
  return 0;
}

}  // namespace steelyard::cli

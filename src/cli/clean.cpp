// SPDX-License-Identifier: BSD-3-Clause
#include "cli/clean.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/log.h"

namespace steelyard::cli {
namespace {

/// The process that made the file; 0 where this user's runs make no files of that name. Segments are called
/// "steelyard-UID-PID-ANYTHING", registrations of LLVM's OpenMP runtime "__KMP_REGISTERED_LIB_PID_UID".
pid_t maker(const std::string& name) {
  const auto uid = static_cast<unsigned>(getuid());
  unsigned owner = 0;
  int process = 0, end = 0;
  if (std::sscanf(name.c_str(), "steelyard-%u-%d-%n", &owner, &process, &end) == 2 && end > 0)
    return owner == uid ? process : 0;
  end = 0;
  if (std::sscanf(name.c_str(), "__KMP_REGISTERED_LIB_%d_%u%n", &process, &owner, &end) == 2 &&
      end == static_cast<int>(name.size()))
    return owner == uid ? process : 0;
  return 0;
}

/// Process numbers inside of containers whose processes are seen here under other numbers: a container may share
/// /dev/shm with the system that it runs on.
std::set<pid_t> numbers_in_containers() {
  std::set<pid_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    if (std::atoi(entry.path().filename().c_str()) <= 0) continue;
    std::ifstream status(entry.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("NSpid:")) continue;
      std::istringstream rest(line.substr(sizeof("NSpid:")));
      for (pid_t number = 0; rest >> number;) numbers.insert(number);
    }
  }
  return numbers;
}

bool lives(pid_t process) { return kill(process, 0) == 0 || errno == EPERM; }

}  // namespace

int clean(const std::string& directory) {
  const auto in_containers = numbers_in_containers();
  int removed = 0, kept = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const pid_t process = maker(entry.path().filename().string());
    if (process <= 0) continue;
    if (lives(process) || in_containers.contains(process)) {
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
  fmt::print("removed {} file{} of runs that died from {}{}\n", removed, removed == 1 ? "" : "s", directory,
             kept == 0 ? "" : fmt::format("; kept {} of running programs", kept));
  return 0;
}

}  // namespace steelyard::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "node/life.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "node/binding.h"

namespace steelyard::node {
namespace {

struct State {
  char letter = '?';
  std::uint64_t started = 0;
};

// Fields 3 and 22 of /proc/PID/stat. The name before them may hold blanks and parentheses.
bool read_state(std::int32_t pid, State& seen) {
  char path[64], text[1024];
  std::snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return false;
  const std::size_t length = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  text[length] = '\0';
  const char* field = std::strrchr(text, ')');
  if (field == nullptr || field[1] == '\0') return false;
  field += 2;
  seen.letter = *field;
  for (int number = 3; number < 22 && field != nullptr; ++number) {
    field = std::strchr(field, ' ');
    if (field != nullptr) ++field;
  }
  return field != nullptr && std::sscanf(field, "%lu", &seen.started) == 1;
}

}  // namespace

Life own_life() {
  const std::int32_t pid = getpid();
  State seen;
  read_state(pid, seen);
  return {pid, seen.started, pid_namespace()};
}

bool is_alive(const Life& life, std::uint64_t my_pid_namespace) {
  if (life.started == 0 || life.pid_namespace != my_pid_namespace) return true;
  State seen;
  // The file may be unreadable for another reason: no free descriptor, no memory, no /proc.
  if (!read_state(life.pid, seen)) return kill(life.pid, 0) == 0 || errno != ESRCH;
  return seen.letter != 'Z' && seen.letter != 'X' && seen.started == life.started;
}

}  // namespace steelyard::node

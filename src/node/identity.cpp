// SPDX-License-Identifier: BSD-3-Clause
#include "node/identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

namespace steelyard::node {
namespace {

// A kernel makes a new number at each start; names of hosts may be those of containers, and be alike. Containers on one
// kernel have memory of their own to share, or not.
std::int32_t read_identity() {
  char text[256] = {};
  if (std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re"); file != nullptr) {
    if (std::fgets(text, sizeof(text), file) == nullptr) text[0] = '\0';
    std::fclose(file);
  }
  if (text[0] == '\0') gethostname(text, sizeof(text) - 1);
  struct stat shared = {};
  stat("/dev/shm", &shared);
  return static_cast<std::int32_t>(std::hash<std::string>{}(text + std::to_string(shared.st_dev)) & 0x7fffffff);
}

// When the library is loaded: a program may have no file to spare later.
const std::int32_t g_identity = read_identity();

}  // namespace

std::int32_t identity() { return g_identity; }

}  // namespace steelyard::node

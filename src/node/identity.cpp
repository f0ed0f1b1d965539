#include "node/identity.h"

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string_view>

namespace steelyard::node {

namespace {

// A kernel makes a new one at each start. Names of hosts may be those of containers, and be alike.
std::int32_t read_identity() {
  char text[256] = {};
  if (std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re"); file != nullptr) {
    if (std::fgets(text, sizeof(text), file) == nullptr) text[0] = '\0';
    std::fclose(file);
  }
  if (text[0] == '\0') gethostname(text, sizeof(text) - 1);
  return static_cast<std::int32_t>(std::hash<std::string_view>{}(text) & 0x7fffffff);
}

}  // namespace

std::int32_t identity() {
  static const std::int32_t number = read_identity();
  return number;
}

}  // namespace steelyard::node

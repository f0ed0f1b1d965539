// SPDX-License-Identifier: BSD-3-Clause
#include "cli/refusal.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <thread>

#include "base/log.h"

namespace steelyard::cli {
namespace {

/// True for one of the ranks that ask this about the same sentence while that one lives. They agree by the name of an
/// abstract socket, which the kernel gives to one process at a time and forgets with it: nothing is left behind.
bool has_the_word(const std::string& sentence) {
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return true;
  const auto name = fmt::format("steelyard-{}-{:x}", getppid(), std::hash<std::string>()(sentence));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a zero before it makes it abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0 || errno != EADDRINUSE;
}

}  // namespace

int refuse_to_start(const std::string& sentence, int status, const Launcher& launcher) {
  if (launcher.kind == Launcher::Kind::none || launcher.size == 1) {
    base::say(sentence);
  } else if (has_the_word(sentence)) {
    base::say(sentence);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until the others have come to ask
  }
  return status;
}

}  // namespace steelyard::cli

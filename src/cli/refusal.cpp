// SPDX-License-Identifier: BSD-3-Clause
#include "cli/refusal.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>

#include "base/log.h"

namespace steelyard::cli {
namespace {

/// True for one of the ranks that ask this about the same text while the elected rank lives. They agree by the name of
/// an abstract socket, which the kernel gives to one process at a time and forgets with it: nothing is left behind.
bool is_elected(const std::string& text) {
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return true;
  const auto name = fmt::format("steelyard-{}-{:x}", getppid(), std::hash<std::string>()(text));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a zero before it makes it abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0 || errno != EADDRINUSE;
}

/// Calls `print` in this process, or in one of the ranks of this node that pass the same `text`.
template <typename Print>
void print_once(const std::string& text, const Launcher& launcher, Print print) {
  if (launcher.kind == Launcher::Kind::none || launcher.size == 1) {
    print();
  } else if (is_elected(text)) {
    print();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until the other ranks have asked
  } else {
    // Until the text is out: Open MPI's mpirun ends the job, and its output, when the first rank fails.
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
}

}  // namespace

int refuse_to_start(const std::string& sentence, int status, const Launcher& launcher) {
  print_once(sentence, launcher, [&] { base::say(sentence); });
  return status;
}

int print_for_user(const std::string& text, int status, const Launcher& launcher) {
  print_once(text, launcher, [&] {
    fmt::print("{}", text);
    std::fflush(stdout);
  });
  return status;
}

}  // namespace steelyard::cli

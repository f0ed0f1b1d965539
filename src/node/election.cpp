// SPDX-License-Identifier: BSD-3-Clause
#include "node/election.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace steelyard::node {

Election::~Election() {
  if (socket_ >= 0) close(socket_);
}

// They agree by the name of an abstract socket, which the kernel gives to one process at a time and forgets with it:
// nothing is left behind.
bool Election::elected() {
  if (socket_ >= 0) return true;
  const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0) return true;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const auto text = fmt::format("steelyard-{}-{:x}", launcher_, subject_);
  std::memcpy(name.sun_path + 1, text.data(), text.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  if (bind(made, reinterpret_cast<const sockaddr*>(&name), size) == 0) {
    socket_ = made;
    return true;
  }
  const bool other_is = errno == EADDRINUSE;
  close(made);
  return !other_is;
}

}  // namespace steelyard::node

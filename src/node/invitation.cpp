// SPDX-License-Identifier: BSD-3-Clause
#include "node/invitation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

namespace steelyard::node {

int invite(Invitation& invitation) {
  std::random_device entropy;
  const std::string name = fmt::format("/steelyard-{}-{}-{:08x}", getuid(), getpid(), entropy());
  std::strncpy(invitation.name, name.c_str(), sizeof(invitation.name) - 1);
  const int fd = shm_open(invitation.name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) invitation.error = errno;
  return fd;
}

int accept(const Invitation& invitation) { return shm_open(invitation.name, O_RDWR | O_CLOEXEC, 0); }

}  // namespace steelyard::node

// SPDX-License-Identifier: BSD-3-Clause
#include "phases/shared_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "node/invitation.h"

namespace steelyard::phases {
namespace {

std::int64_t start_of(int area) { return (area + 1) * static_cast<std::int64_t>(SharedFile::kMostBytes); }

void* map_at(int fd, std::int64_t offset, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  return memory == MAP_FAILED ? nullptr : memory;
}

struct Letter {
  node::Invitation invitation;
  std::uint64_t bytes = 0;
};

base::Status no_memory(std::size_t bytes, int error) {
  return base::Status::failure(
      base::code_of_errno(error),
      fmt::format("shared memory of {} KiB could not be allocated in /dev/shm ({}): free space there (df /dev/shm) or "
                  "give the container a "
                  "larger one",
                  bytes / 1024, error != 0 ? std::strerror(error) : "failed in another process"));
}

}  // namespace

// Two messages in all: where processes have to share cores, each costs many times what it would cost alone.
base::Status SharedFile::create(Transport& transport, std::size_t head, const Fill& fill,
                                std::unique_ptr<SharedFile>& file) {
  const bool leader = transport.rank() == 0;
  Letter letter;
  node::Invitation& invitation = letter.invitation;
  int fd = -1;
  void* memory = nullptr;
  if (leader) {
    letter.bytes = head;
    fd = node::invite(invitation);
    if (fd >= 0) invitation.error = posix_fallocate(fd, 0, static_cast<off_t>(head));
    if (invitation.error == 0) memory = map_at(fd, 0, head);
    if (invitation.error == 0 && memory == nullptr) invitation.error = errno;
    if (memory != nullptr) fill(memory);
  }
  transport.broadcast(&letter, sizeof(letter));
  head = letter.bytes;
  int error = invitation.error;
  if (!leader && error == 0) {
    fd = node::accept(invitation);
    if (fd >= 0) memory = map_at(fd, 0, head);
    if (memory != nullptr) {
      fill(memory);
    } else {
      error = errno;
    }
  }
  const bool everybody = transport.all_agree(memory != nullptr);
  if (leader && invitation.name[0] != '\0') shm_unlink(invitation.name);
  if (!everybody) {
    if (memory != nullptr) munmap(memory, head);
    if (fd >= 0) close(fd);
    return no_memory(head, error);
  }
  file.reset(new SharedFile(fd, memory, head));
  return {};
}

SharedFile::~SharedFile() {
  for (int area = 0; area < kAreas; ++area) {
    if (areas_[area] != nullptr) munmap(areas_[area], area_bytes_[area]);
  }
  munmap(head_, head_bytes_);
  close(fd_);
}

base::Status SharedFile::grow(int area, std::size_t bytes) {
  const int error = posix_fallocate(fd_, start_of(area), static_cast<off_t>(bytes));
  return error == 0 ? base::Status() : no_memory(bytes, error);
}

char* SharedFile::map(int area, std::size_t bytes) {
  if (bytes <= area_bytes_[area]) return areas_[area];
  void* wider = areas_[area] == nullptr ? map_at(fd_, start_of(area), bytes)
                                        : mremap(areas_[area], area_bytes_[area], bytes, MREMAP_MAYMOVE);
  if (wider == nullptr || wider == MAP_FAILED) return nullptr;
  areas_[area] = static_cast<char*>(wider);
  area_bytes_[area] = bytes;
  return areas_[area];
}

std::int64_t SharedFile::offset_in(int area, const void* address) const {
  const char* place = static_cast<const char*>(address);
  if (areas_[area] == nullptr || place < areas_[area] || place >= areas_[area] + area_bytes_[area]) return -1;
  return place - areas_[area];
}

}  // namespace steelyard::phases

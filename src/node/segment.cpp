#include "node/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "node/invitation.h"

namespace steelyard::node {
namespace {

void* map_shared(int fd, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void* create_as_leader(std::size_t bytes, std::size_t spare, Invitation& invitation, int& fd) {
  fd = invite(invitation);
  if (fd < 0) return nullptr;
  if (ftruncate(fd, static_cast<off_t>(bytes + spare)) != 0) {
    invitation.error = errno;
  } else {
    invitation.error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  }
  void* memory = invitation.error == 0 ? map_shared(fd, bytes + spare) : nullptr;
  if (memory == nullptr && invitation.error == 0) invitation.error = errno;
  if (memory == nullptr) shm_unlink(invitation.name);
  return memory;
}

void* attach(std::size_t bytes, Invitation& invitation) {
  const int fd = accept(invitation);
  void* memory = fd >= 0 ? map_shared(fd, bytes) : nullptr;
  if (memory == nullptr) invitation.error = errno;
  if (fd >= 0) close(fd);
  return memory;
}

}  // namespace

base::Status Segment::create(Bootstrap& bootstrap, std::size_t size, std::size_t spare,
                             std::unique_ptr<Segment>& segment) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (size + page - 1) / page * page;  // what is spare begins on a page
  const bool leader = bootstrap.node_rank() == 0;
  Invitation invitation;
  int file = -1;
  void* memory = leader ? create_as_leader(bytes, spare, invitation, file) : nullptr;
  bootstrap.broadcast_in_node(&invitation, sizeof(invitation));
  if (!leader && invitation.error == 0) memory = attach(bytes + spare, invitation);
  bootstrap.barrier_in_node();
  if (leader && memory != nullptr) shm_unlink(invitation.name);
  // One process that could not attach makes all step aside: half a node cannot be balanced.
  const bool everybody = bootstrap.all_agree(memory != nullptr);
  if (!everybody) {
    if (memory != nullptr) munmap(memory, bytes + spare);
    if (file >= 0) close(file);
    return base::Status::failure(fmt::format(
        "shared memory of {} KiB could not be created in /dev/shm ({}): cores cannot move on this run; free "
        "space there (df /dev/shm) or give the container a larger one",
        bytes / 1024, invitation.error != 0 ? std::strerror(invitation.error) : "failed on another rank"));
  }
  segment.reset(new Segment(memory, bytes, bytes + spare, file));
  return {};
}

std::unique_ptr<Segment> Segment::over(void* memory, std::size_t bytes) {
  return std::unique_ptr<Segment>(new Segment(memory, bytes, 0, -1));
}

Segment::~Segment() {
  if (mapped_ != 0) munmap(memory_, mapped_);
  if (file_ >= 0) close(file_);
}

// Writing to a page for which there is no memory would be a signal; asking is not.
bool Segment::commit(char* from, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  return madvise(from, bytes, MADV_POPULATE_WRITE) == 0;
#else
  constexpr int kPopulateWrite = 23;  // of Linux, where the C library does not know it
  return madvise(from, bytes, kPopulateWrite) == 0;
#endif
}

void* Segment::take(std::size_t bytes) {
  const std::size_t rounded = (bytes + kLine - 1) / kLine * kLine;
  if (used_ + rounded > bytes_) std::abort();  // a footprint() that was forgotten: a defect, found by the first test
  void* place = memory_ + used_;
  used_ += rounded;
  return place;
}

}  // namespace steelyard::node

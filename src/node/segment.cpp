// SPDX-License-Identifier: BSD-3-Clause
#include "node/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "node/invitation.h"

namespace steelyard::node {
namespace {

void* map_shared(int fd, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// What failed at one process.
struct Failure {
  const char* call = nullptr;  // nullptr: nothing
  int error = 0;
};

void* create_as_leader(std::size_t bytes, std::size_t spare, Invitation& invitation, int& fd, Failure& failure) {
  const auto failed = [&](const char* call, int error) {
    failure = {call, error};
    invitation.error = error;
    if (fd >= 0) shm_unlink(invitation.name);
    return nullptr;
  };
  fd = invite(invitation);
  if (fd < 0) return failed("shm_open", invitation.error);
  if (ftruncate(fd, static_cast<off_t>(bytes + spare)) != 0) return failed("ftruncate", errno);
  if (const int error = posix_fallocate(fd, 0, static_cast<off_t>(bytes)); error != 0)
    return failed("posix_fallocate", error);
  void* memory = map_shared(fd, bytes + spare);
  return memory != nullptr ? memory : failed("mmap", errno);
}

void* attach(std::size_t bytes, const Invitation& invitation, Failure& failure) {
  const int fd = accept(invitation);
  void* memory = fd >= 0 ? map_shared(fd, bytes) : nullptr;
  if (memory == nullptr) failure = {fd >= 0 ? "mmap" : "attach", errno};
  if (fd >= 0) close(fd);
  return memory;
}

/// The cause, and what to do about it.
std::string explained(const Failure& failure, std::size_t bytes, std::size_t addresses) {
  const std::string call = failure.call;
  const char* const reason = std::strerror(failure.error);
  rlimit limit{};
  if (call == "mmap" && failure.error == ENOMEM && getrlimit(RLIMIT_AS, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY) {
    return fmt::format(
        "the address space of a process is limited to {} KiB (ulimit -v), and {} KiB more are needed: raise the limit "
        "(ulimit -v unlimited), or leave out what needs most of it (--collectives=off)",
        limit.rlim_cur / 1024, addresses / 1024);
  }
  if (call == "attach" && failure.error == ENOENT) {
    return "ranks of this node see different directories /dev/shm (mount namespaces or containers of their own): start "
           "all ranks of a node in one container, or have the containers share /dev/shm (Docker: --ipc=host)";
  }
  if (failure.error == ENOSPC) {
    return fmt::format(
        "/dev/shm has no space left for {} KiB: free space there (df /dev/shm, `steelyard clean`), or give the "
        "container a larger one (Docker: --shm-size)",
        bytes / 1024);
  }
  return fmt::format("{} failed for {} KiB in /dev/shm ({})", call == "attach" ? "shm_open" : call, bytes / 1024,
                     reason);
}

}  // namespace

base::Status Segment::create(Bootstrap& bootstrap, const std::vector<Footprint>& parts,
                             std::unique_ptr<Segment>& segment) {
  std::size_t size = 0, spare = 0;
  for (const Footprint& part : parts) {
    size += part.bytes;
    spare += part.spare;
  }
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (size + page - 1) / page * page;  // what is spare begins on a page
  const bool leader = bootstrap.node_rank() == 0;
  Invitation invitation;
  Failure failure;
  int file = -1;
  void* memory = leader ? create_as_leader(bytes, spare, invitation, file, failure) : nullptr;
  bootstrap.broadcast_in_node(&invitation, sizeof(invitation));
  if (!leader && invitation.error == 0) memory = attach(bytes + spare, invitation, failure);
  bootstrap.barrier_in_node();
  if (leader && memory != nullptr) shm_unlink(invitation.name);
  // One process that could not attach makes all step aside: half a node cannot be balanced.
  const bool all_have_it = bootstrap.all_agree(memory != nullptr);
  if (!all_have_it) {
    if (memory != nullptr) munmap(memory, bytes + spare);
    if (file >= 0) close(file);
    std::string cause = failure.call != nullptr ? explained(failure, bytes, bytes + spare) : "";
    // Rank 0 speaks, and may not be the rank where it failed.
    const std::vector<std::string> causes = bootstrap.gather(cause);
    for (std::size_t rank = 0; cause.empty() && rank < causes.size(); ++rank) {
      if (!causes[rank].empty()) cause = fmt::format("at rank {}, {}", rank, causes[rank]);
    }
    if (cause.empty()) cause = "it failed on another rank";
    return base::Status::failure("shared memory could not be created, so cores cannot move on this run: " + cause);
  }
  segment.reset(new Segment(memory, bytes, bytes + spare, file));
  for (const Footprint& part : parts) part.attach(*segment);
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
  constexpr int kPopulateWrite = 23;  // Format: of Linux, where the C library does not know it
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

// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/arena.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "node/invitation.h"

namespace steelyard::tasks {
namespace {

constexpr std::uint64_t kPage = 4096;  // Size: a page of memory.

std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

base::Status no_memory(std::uint64_t bytes, int error) {
  return base::Status::failure(base::code_of_errno(error),
                               fmt::format("a task pool needs {} KiB of shared memory in /dev/shm, which could not be "
                                           "allocated ({}): free space there (df /dev/shm) or "
                                           "give the container a larger one",
                                           bytes / 1024, error != 0 ? std::strerror(error) : "failed at another rank"));
}

}  // namespace

base::Status Arena::create(Transport& transport, int threads, bool receivers, std::unique_ptr<Arena>& arena) {
  std::unique_ptr<Arena> made(new Arena(transport.reach()));
  made->processes_ = transport.node_size();
  made->receivers_ = receivers ? made->processes_ : 0;
  made->regions_ =
      whole_pages(sizeof(NodeBlock) + sizeof(ProcessBlock) * static_cast<std::uint64_t>(transport.node_size()));
  if (base::Status shared = made->share_head(transport, threads); !shared) return shared;
  if (base::Status shared = made->share_workers(transport); !shared) return shared;
  arena = std::move(made);
  return {};
}

base::Status Arena::share_head(Transport& transport, int threads) {
  const bool leader = transport.node_rank() == 0;
  const std::uint64_t head = regions_;
  node::Invitation invitation;
  if (leader) {
    fd_ = node::invite(invitation);
    if (fd_ >= 0) invitation.error = posix_fallocate(fd_, 0, static_cast<off_t>(head));
  }
  transport.broadcast_in_node(&invitation, sizeof(invitation));
  int error = invitation.error;
  if (!leader && error == 0) {
    fd_ = node::accept(invitation);
    if (fd_ < 0) error = errno;
  }
  if (error == 0 && !map(head, 0)) error = errno;
  const bool attached = base_ != nullptr;
  if (attached) {
    ProcessBlock& me = process(transport.node_rank());
    me.rank = transport.rank();
    me.world.store(transport.rank(), std::memory_order_relaxed);
    me.life = node::own_life();
    me.threads = threads;
  }
  const bool all_attached = transport.all_agree(attached);
  if (leader && invitation.name[0] != '\0') shm_unlink(invitation.name);
  return all_attached ? base::Status() : no_memory(head, error);
}

base::Status Arena::share_workers(Transport& transport) {
  first_worker_.push_back(0);
  for (int local = 0; local < processes_; ++local)
    first_worker_.push_back(first_worker_.back() + process(local).threads);
  const bool ready = map(region(blocks()), MAP_NORESERVE) && allocate_own(transport.node_rank());
  const int error = ready ? 0 : errno;
  if (transport.all_agree(ready)) {
    madvise(base_, mapped_, MADV_DONTDUMP);
    return {};
  }
  return no_memory(sizeof(WorkerBlock) * static_cast<std::uint64_t>(blocks()), error);
}

bool Arena::map(std::uint64_t bytes, int flags) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd_, 0);
  if (memory == MAP_FAILED) return false;
  if (base_ != nullptr) munmap(base_, mapped_);
  base_ = static_cast<char*>(memory);
  mapped_ = bytes;
  return true;
}

bool Arena::allocate_own(int local) const {
  const std::uint64_t bytes = whole_pages(sizeof(WorkerBlock));
  for (int worker = first_worker(local); worker < first_worker(local + 1); ++worker) {
    if (!allocate(region(worker), bytes)) return false;
  }
  return receivers_ == 0 || allocate(region(receiver(local)), bytes);
}

Arena::~Arena() {
  if (base_ != nullptr) munmap(base_, mapped_);
  if (fd_ >= 0) close(fd_);
}

bool Arena::allocate(std::uint64_t offset, std::uint64_t bytes) const {
  const int error = posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error != 0) errno = error;
  return error == 0;
}

Heap Arena::heap(int index) const {
  const std::uint64_t first = region(index) + whole_pages(sizeof(WorkerBlock));
  return Heap(base_, first, region(index + 1), worker(index).returned,
              [this](std::uint64_t offset, std::uint64_t bytes) { return allocate(offset, bytes); });
}

void Arena::post(int to, std::uint64_t block) const { Heap::push(base_, process(to).inbox, block); }

void Arena::collect(int me, std::vector<std::uint64_t>& blocks) const {
  Heap::Stack& inbox = process(me).inbox;
  if (inbox.load(std::memory_order_relaxed) == 0) return;
  const auto first = static_cast<std::ptrdiff_t>(blocks.size());
  for (std::uint64_t block = inbox.exchange(0, std::memory_order_acquire); block != 0;
       block = Heap::header(base_, block).next) {
    blocks.push_back(block);
  }
  std::reverse(blocks.begin() + first, blocks.end());
}

}  // namespace steelyard::tasks

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
  const bool leader = transport.node_rank() == 0;
  const std::uint64_t head =
      whole_pages(sizeof(NodeBlock) + sizeof(ProcessBlock) * static_cast<std::uint64_t>(transport.node_size()));
  made->processes_ = transport.node_size();
  made->receivers_ = receivers ? made->processes_ : 0;
  made->regions_ = head;

  node::Invitation invitation;
  if (leader) {
    made->fd_ = node::invite(invitation);
    if (made->fd_ >= 0) invitation.error = posix_fallocate(made->fd_, 0, static_cast<off_t>(head));
  }
  transport.broadcast_in_node(&invitation, sizeof(invitation));
  int error = invitation.error;
  if (!leader && error == 0) {
    made->fd_ = node::accept(invitation);
    if (made->fd_ < 0) error = errno;
  }
  // First the head alone: the number of workers is in it.
  void* memory = error == 0 ? mmap(nullptr, head, PROT_READ | PROT_WRITE, MAP_SHARED, made->fd_, 0) : MAP_FAILED;
  if (memory != MAP_FAILED) {
    made->base_ = static_cast<char*>(memory);
    made->mapped_ = head;
    ProcessBlock& me = made->process(transport.node_rank());
    me.rank = transport.rank();
    me.world.store(transport.rank(), std::memory_order_relaxed);
    me.life = node::own_life();
    me.threads = threads;
  } else if (error == 0) {
    error = errno;
  }
  const bool all_attached = transport.all_agree(memory != MAP_FAILED);
  if (leader && invitation.name[0] != '\0') shm_unlink(invitation.name);
  if (!all_attached) return no_memory(head, error);

  made->first_worker_.push_back(0);
  for (int local = 0; local < made->processes_; ++local) {
    made->first_worker_.push_back(made->first_worker_.back() + made->process(local).threads);
  }
  const std::uint64_t whole = made->region(made->blocks());
  memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, made->fd_, 0);
  bool ready = memory != MAP_FAILED;
  if (ready) {
    munmap(made->base_, made->mapped_);
    made->base_ = static_cast<char*>(memory);
    made->mapped_ = whole;
    madvise(memory, whole, MADV_DONTDUMP);
    for (int worker = made->first_worker(transport.node_rank()); worker < made->first_worker(transport.node_rank() + 1);
         ++worker) {
      ready = ready && made->allocate(made->region(worker), whole_pages(sizeof(WorkerBlock)));
    }
    if (receivers) {
      const int receiver = made->receiver(transport.node_rank());
      ready = ready && made->allocate(made->region(receiver), whole_pages(sizeof(WorkerBlock)));
    }
  }
  error = ready ? 0 : errno;
  if (!transport.all_agree(ready))
    return no_memory(sizeof(WorkerBlock) * static_cast<std::uint64_t>(made->blocks()), error);
  arena = std::move(made);
  return {};
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

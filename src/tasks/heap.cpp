// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/heap.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace steelyard::tasks {
namespace {

constexpr std::uint64_t kSmallest = 64;  // Size: bytes of a line of the cache.

}  // namespace

// Four sizes for each doubling: 64, 80, 96, 112, 128, 160, ...
std::uint64_t Heap::size_of(std::uint32_t size_class) {
  return (kSmallest / 4 * (4 + size_class % 4)) << (size_class / 4);
}

std::uint32_t Heap::class_for(std::uint64_t bytes) {
  if (bytes <= kSmallest) return 0;
  const auto doublings = static_cast<std::uint32_t>(std::bit_width((bytes - 1) / kSmallest) - 1);
  for (std::uint32_t size_class = 4 * doublings;; ++size_class) {
    if (size_of(size_class) >= bytes) return size_class;
  }
}

Heap::Heap(char* base, std::uint64_t first, std::uint64_t end, Stack& returned, AllocatePages allocate)
    : base_(base),
      first_(first),
      end_(end),
      top_(first),
      allocated_(first),
      returned_(returned),
      allocate_(std::move(allocate)) {}

std::uint64_t Heap::take(std::size_t bytes) {
  if (bytes > end_ - first_) return 0;
  const std::uint32_t size_class = class_for(bytes + sizeof(Header));
  if (free_[size_class].empty() && returned_.load(std::memory_order_relaxed) != 0) {
    std::uint64_t block = returned_.exchange(0, std::memory_order_acquire);
    while (block != 0) give(std::exchange(block, header(base_, block).next));
  }
  std::uint64_t block = 0;
  if (!free_[size_class].empty()) {
    block = free_[size_class].back();
    free_[size_class].pop_back();
  } else {
    const std::uint64_t size = size_of(size_class);
    if (size > end_ - top_) return 0;
    if (top_ + size > allocated_) {
      // It grows by a quarter, so that it rarely grows; by less if memory is short.
      const std::uint64_t needed = top_ + size - allocated_;
      const std::uint64_t wanted = std::min(std::max(needed, allocated() / 4), end_ - allocated_);
      if (allocate_(allocated_, wanted)) {
        allocated_ += wanted;
      } else if (allocate_(allocated_, needed)) {
        allocated_ += needed;
      } else {
        return 0;
      }
    }
    block = std::exchange(top_, top_ + size);
  }
  new (base_ + block) Header{size_class, 0};
  return block;
}

void Heap::give(std::uint64_t block) { free_[header(base_, block).size_class].push_back(block); }

void Heap::push(char* base, Stack& stack, std::uint64_t block) {
  std::uint64_t top = stack.load(std::memory_order_relaxed);
  do header(base, block).next = top;
  while (!stack.compare_exchange_weak(top, block, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace steelyard::tasks

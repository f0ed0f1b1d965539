// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sys/mman.h>

#include <memory>
#include <vector>

#include "collectives/board.h"

namespace steelyard::collectives {

/// For tests: a node whose processes are threads.
struct PlayedNode {
  /// @param room the node has memory for messages that do not fit into a notice
  explicit PlayedNode(int processes, bool room = true) : count(processes) {
    const std::size_t page = 4096;
    const std::size_t bytes = (Boards::footprint(processes) + page - 1) / page * page;
    size = bytes + Boards::spare();
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!room) mprotect(static_cast<char*>(memory) + bytes, size - bytes, PROT_NONE);
    for (int p = 0; p < processes; ++p) {
      segments.push_back(node::Segment::over(memory, bytes));
      boards.push_back(std::make_unique<Boards>(*segments.back(), processes, p));
    }
  }
  ~PlayedNode() { munmap(memory, size); }
  PlayedNode(const PlayedNode&) = delete;
  PlayedNode& operator=(const PlayedNode&) = delete;

  std::vector<std::unique_ptr<Board>> open(int slot, const std::vector<int>& members) {
    std::vector<std::unique_ptr<Board>> result;
    for (const int member : members) {
      result.push_back(member < 0 ? nullptr : boards[static_cast<std::size_t>(member)]->open(slot, members));
    }
    return result;
  }

  int count;
  std::size_t size;
  void* memory;
  std::vector<std::unique_ptr<node::Segment>> segments;
  std::vector<std::unique_ptr<Boards>> boards;
};

}  // namespace steelyard::collectives

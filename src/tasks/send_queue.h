// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <deque>
#include <vector>

#include "port/messages.h"
#include "tasks/transport.h"

namespace steelyard::tasks {

/// Outgoing messages. Keeps their bytes until MPI has sent them.
class SendQueue {
 public:
  explicit SendQueue(Transport& transport) : transport_(transport) {}
  /// Sends a message of medium size in pieces: MPI delivers small messages without the sender's help, and larger
  /// messages only while the sender calls MPI. The pieces of a message arrive in order, with no other message of the
  /// same sender between.
  void send(int to, std::vector<char> bytes) {
    if (bytes.size() <= kPiece || bytes.size() > kMostInPieces) {
      queue_.push_back({to, -1, std::move(bytes)});
    } else {
      for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        const auto size = static_cast<std::ptrdiff_t>(std::min(kPiece, bytes.size() - at));
        queue_.push_back({to, -1, std::vector<char>(first, first + size)});
      }
    }
    step();
  }
  void step() {
    for (bool full = false; !full;) {
      while (!queue_.empty()) {
        Piece& piece = queue_.front();
        piece.slot = transport_.send(piece.to, piece.bytes.data(), piece.bytes.size());
        if (piece.slot < 0) break;
        sending_.push_back(std::move(piece));
        queue_.pop_front();
      }
      const bool freed =
          std::erase_if(sending_, [this](const Piece& piece) { return transport_.sent(piece.slot); }) > 0;
      full = queue_.empty() || !freed;
    }
  }
  bool empty() const { return queue_.empty() && sending_.empty(); }

 private:
  static constexpr std::size_t kPiece = port::kEager;
  static constexpr std::size_t kMostInPieces = std::size_t{256} * 1024;  // bytes: 68 pieces, a send each
  struct Piece {
    int to, slot;
    std::vector<char> bytes;  // they stay in place when the piece moves
  };
  Transport& transport_;
  std::deque<Piece> queue_;
  std::vector<Piece> sending_;
};

}  // namespace steelyard::tasks

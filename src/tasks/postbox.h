#pragma once
#include <algorithm>
#include <deque>
#include <vector>

#include "tasks/mail.h"

namespace steelyard::tasks {

/// Messages on their way out: kept until MPI has them.
class Postbox {
 public:
  explicit Postbox(Mail& mail) : mail_(mail) {}
  /// In pieces, where it is neither small nor very large: MPI brings small messages by itself, and others only while their
  /// sender is in MPI, too. Pieces of one letter arrive in order, and nothing of the same sender comes in between.
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
        Letter& letter = queue_.front();
        letter.slot = mail_.send(letter.to, letter.bytes.data(), letter.bytes.size());
        if (letter.slot < 0) break;
        sending_.push_back(std::move(letter));
        queue_.pop_front();
      }
      const bool freed = std::erase_if(sending_, [this](const Letter& letter) { return mail_.sent(letter.slot); }) > 0;
      full = queue_.empty() || !freed;
    }
  }
  bool empty() const { return queue_.empty() && sending_.empty(); }

 private:
  static constexpr std::size_t kPiece = 3900;  // Open MPI sends 4 KiB eagerly in shared memory, others more
  static constexpr std::size_t kMostInPieces = std::size_t{256} * 1024;
  struct Letter {
    int to, slot;
    std::vector<char> bytes;  // its place stays when the letter moves
  };
  Mail& mail_;
  std::deque<Letter> queue_;
  std::vector<Letter> sending_;
};

}  // namespace steelyard::tasks

#pragma once
#include <deque>
#include <vector>

#include "tasks/mail.h"

namespace steelyard::tasks {

/// Messages on their way out: kept until MPI has them.
class Postbox {
 public:
  explicit Postbox(Mail& mail) : mail_(mail) {}
  void send(int to, std::vector<char> bytes) {
    queue_.push_back({to, -1, std::move(bytes)});
    step();
  }
  void step() {
    while (!queue_.empty()) {
      Letter& letter = queue_.front();
      letter.slot = mail_.send(letter.to, letter.bytes.data(), letter.bytes.size());
      if (letter.slot < 0) break;
      sending_.push_back(std::move(letter));
      queue_.pop_front();
    }
    std::erase_if(sending_, [this](const Letter& letter) { return mail_.sent(letter.slot); });
  }
  bool empty() const { return queue_.empty() && sending_.empty(); }

 private:
  struct Letter {
    int to, slot;
    std::vector<char> bytes;  // its place stays when the letter moves
  };
  Mail& mail_;
  std::deque<Letter> queue_;
  std::vector<Letter> sending_;
};

}  // namespace steelyard::tasks

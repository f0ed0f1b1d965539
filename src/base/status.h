#pragma once
#include <string>
#include <utility>

namespace steelyard::base {

/// Success, or a failure with one sentence for the user: the cause, the value seen, what to do next.
class [[nodiscard]] Status {
 public:
  Status() = default;
  static Status failure(std::string sentence) {
    Status s;
    s.sentence_ = std::move(sentence);
    s.ok_ = false;
    return s;
  }
  explicit operator bool() const { return ok_; }
  const std::string& sentence() const { return sentence_; }

 private:
  std::string sentence_;
  bool ok_ = true;
};

}  // namespace steelyard::base

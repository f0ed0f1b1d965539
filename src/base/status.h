// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cerrno>
#include <string>
#include <utility>

namespace steelyard::base {

/// The kind of a failure. The public API returns it: the values are those of steelyard_status_t (src/api/outcome.h
/// checks).
enum class Code {
  success = 0,
  invalid_argument = 2,
  invalid_state = 3,
  mismatch = 4,
  peer = 5,
  unsupported = 6,
  out_of_memory = 7,
  system = 8,
  mpi = 9,
  task_failed = 10,
  internal = 11
};

/// The code of a failure to get memory or a file that all processes must get. `error`: of this process; 0: it failed in
/// another.
inline Code code_of_errno(int error) {
  if (error == 0) return Code::peer;
  return error == ENOMEM || error == ENOSPC || error == EDQUOT ? Code::out_of_memory : Code::system;
}

/// Success, or a failure with one sentence for the user: the cause, the value seen, what to do next.
class [[nodiscard]] Status {
 public:
  Status() = default;
  static Status failure(Code code, std::string sentence) {
    Status s;
    s.sentence_ = std::move(sentence);
    s.code_ = code;
    return s;
  }
  /// A failure that no caller of the public API gets.
  static Status failure(std::string sentence) { return failure(Code::internal, std::move(sentence)); }
  explicit operator bool() const { return code_ == Code::success; }
  Code code() const { return code_; }
  const std::string& sentence() const { return sentence_; }

 private:
  std::string sentence_;
  Code code_ = Code::success;
};

}  // namespace steelyard::base

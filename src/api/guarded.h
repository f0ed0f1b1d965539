// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "api/outcome.h"

// What the calls of the public API share that check a pointer and let no exception pass.
namespace steelyard::api {

/// How a call ends that an exception has ended. Memory may be exhausted: it allocates none.
class Failure {
 public:
  /// @param name of the call, literal
  Failure(const char* name, const std::exception& exception) noexcept {
    if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) {
      code_ = Code::out_of_memory;
      std::snprintf(sentence_, sizeof(sentence_), "%s() failed: the memory of this process is exhausted", name);
    } else {
      std::snprintf(sentence_, sizeof(sentence_), "%s() failed: %s", name, exception.what());
    }
  }
  Code code() const noexcept { return code_; }
  std::string_view sentence() const noexcept { return sentence_; }

 private:
  Code code_ = Code::internal;
  char sentence_[512] = "";  // as much as steelyard_message() holds
};

/// The status of `call`, a function that returns a base::Status or a steelyard_status_t.
///
/// @param name    of the public function
/// @param is_null a pointer that must not be null is: `call` is then not called
/// @param what    that pointer, in the message: "handle or pointer"
template <class Call>
steelyard_status_t guarded(const char* name, bool is_null, const char* what, Call&& call) try {
  if (is_null) return fail(Code::invalid_argument, fmt::format("{}() does not accept a null {}", name, what));
  return outcome(std::forward<Call>(call)());
} catch (const std::exception& exception) {
  const Failure failure(name, exception);
  return fail(failure.code(), failure.sentence());
}

/// 1 if `reason`, a function, returns no text; otherwise 0, with that text as the message.
template <class Reason>
int without(const char* name, Reason&& reason) {
  const auto tell = [&] {
    const std::string text = std::forward<Reason>(reason)();
    if (text.empty()) return STEELYARD_SUCCESS;
    set_message(text);
    return STEELYARD_INACTIVE;
  };
  return guarded(name, false, "", tell) == STEELYARD_SUCCESS ? 1 : 0;
}

}  // namespace steelyard::api

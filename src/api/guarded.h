// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <fmt/format.h>

#include <exception>
#include <new>
#include <utility>

#include "api/outcome.h"

// What the calls of the public API share that check a pointer and let no exception pass.
namespace steelyard::api {

/// What a call returns that an exception has ended. `name`: of the call.
inline base::Status failure_of(const char* name, const std::exception& exception) {
  const Code code = dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ? Code::out_of_memory : Code::internal;
  return base::Status::failure(code, fmt::format("{}() failed: {}", name, exception.what()));
}

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
  return outcome(failure_of(name, exception));
}

}  // namespace steelyard::api

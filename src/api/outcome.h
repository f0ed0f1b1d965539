// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/status.h"
#include "steelyard/steelyard.h"

// How a call of the public API ends: a status for the caller, and a message for its thread.
namespace steelyard::api {

using base::Code;
static_assert(static_cast<int>(Code::success) == STEELYARD_SUCCESS);
static_assert(static_cast<int>(Code::invalid_argument) == STEELYARD_ERROR_INVALID_ARGUMENT);
static_assert(static_cast<int>(Code::invalid_state) == STEELYARD_ERROR_INVALID_STATE);
static_assert(static_cast<int>(Code::mismatch) == STEELYARD_ERROR_MISMATCH);
static_assert(static_cast<int>(Code::peer) == STEELYARD_ERROR_PEER);
static_assert(static_cast<int>(Code::unsupported) == STEELYARD_ERROR_UNSUPPORTED);
static_assert(static_cast<int>(Code::out_of_memory) == STEELYARD_ERROR_OUT_OF_MEMORY);
static_assert(static_cast<int>(Code::system) == STEELYARD_ERROR_SYSTEM);
static_assert(static_cast<int>(Code::mpi) == STEELYARD_ERROR_MPI);
static_assert(static_cast<int>(Code::task_failed) == STEELYARD_ERROR_TASK_FAILED);
static_assert(static_cast<int>(Code::internal) == STEELYARD_ERROR_INTERNAL);

/// A failure of the caller's, with a message for fmt::format().
template <class... Args>
base::Status invalid_argument(fmt::format_string<Args...> message, Args&&... args) {
  return base::Status::failure(Code::invalid_argument, fmt::format(message, std::forward<Args>(args)...));
}
template <class... Args>
base::Status invalid_state(fmt::format_string<Args...> message, Args&&... args) {
  return base::Status::failure(Code::invalid_state, fmt::format(message, std::forward<Args>(args)...));
}

/// Stores the message that steelyard_message() returns to this thread from now on; cut at 511 bytes.
void set_message(std::string_view sentence) noexcept;

inline steelyard_status_t to_c(Code code) { return static_cast<steelyard_status_t>(code); }

inline steelyard_status_t fail(Code code, std::string_view sentence) noexcept {
  set_message(sentence);
  return to_c(code);
}

inline steelyard_status_t outcome(steelyard_status_t status) noexcept { return status; }
inline steelyard_status_t outcome(const base::Status& status) noexcept {
  return status ? STEELYARD_SUCCESS : fail(status.code(), status.sentence());
}

/// For Fortran, where the status is an optional argument: null if it is absent.
inline void give(int* status, steelyard_status_t result) noexcept {
  if (status != nullptr) *status = result;
}

}  // namespace steelyard::api

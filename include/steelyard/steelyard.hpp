// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "steelyard/steelyard.h"

/// @file
/// Steelyard for C++17, header only: the functions of steelyard.h, which documents each of them.
///
/// Exceptions: one policy holds for all C++ headers of Steelyard.
/// - A constructor or a call that fails throws steelyard::Error. It carries the status and the message.
/// - STEELYARD_INACTIVE is not an error and throws nothing.
/// - Destructors and functions marked noexcept never throw. What a destructor could not do, an explicit call before it
///   reports: ScopedPhase::leave(), ScopedBinding::pop(), TaskPool::free().
/// - An exception out of the body of a loop, a task or a consumer of results passes through no C function and no other
///   thread. It is caught where it was thrown, and thrown again where the loop or the run was called (loops.hpp,
///   tasks.hpp say how).
/// - std::bad_alloc of the headers' own containers passes unchanged.
namespace steelyard {

/// The outcome of a call: steelyard_status_t documents each value.
enum class Status {
  success = STEELYARD_SUCCESS,
  inactive = STEELYARD_INACTIVE,
  invalid_argument = STEELYARD_ERROR_INVALID_ARGUMENT,
  invalid_state = STEELYARD_ERROR_INVALID_STATE,
  mismatch = STEELYARD_ERROR_MISMATCH,
  peer = STEELYARD_ERROR_PEER,
  unsupported = STEELYARD_ERROR_UNSUPPORTED,
  out_of_memory = STEELYARD_ERROR_OUT_OF_MEMORY,
  system = STEELYARD_ERROR_SYSTEM,
  mpi = STEELYARD_ERROR_MPI,
  task_failed = STEELYARD_ERROR_TASK_FAILED,
  internal = STEELYARD_ERROR_INTERNAL
};

/// A call has failed. what() is the message: the cause, the value seen, and what to do.
class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

/// The message of the calling thread's last call that was not a success. Valid until the thread's next call. See
/// steelyard_message().
inline std::string_view message() noexcept { return steelyard_message(); }

namespace detail {

/// Throws Error unless `status` is a success or STEELYARD_INACTIVE.
inline void check(steelyard_status_t status) {
  if (status != STEELYARD_SUCCESS && status != STEELYARD_INACTIVE)
    throw Error(static_cast<Status>(status), steelyard_message());
}

}  // namespace detail

/// Marks the end of a step. Local; primary thread only. See steelyard_step().
/// @return Status::success, or Status::inactive if this process is not being balanced
/// @throws Error if called by another thread or inside a parallel region
inline Status step() {
  const steelyard_status_t status = steelyard_step();
  detail::check(status);
  return static_cast<Status>(status);
}

/// True if this process is being balanced now; otherwise message() says why not. Any thread. See steelyard_active().
inline bool active() noexcept { return steelyard_active() != 0; }

/// The name of a status. Any thread. See steelyard_status_name().
inline std::string_view name(Status status) noexcept {
  return steelyard_status_name(static_cast<steelyard_status_t>(status));
}

/// The version of the library in use, such as "0.1.0". Any thread. See steelyard_version().
inline std::string_view version() noexcept { return steelyard_version(); }

/// The version of the library in use as one number. Any thread. See steelyard_version_number().
inline int version_number() noexcept { return steelyard_version_number(); }

}  // namespace steelyard

#pragma once
#include <string_view>

#include "steelyard/steelyard.h"

// Steelyard for C++17, header only: the functions of steelyard.h, which documents them. Nothing here throws.
namespace steelyard {

enum class Status {
  success = STEELYARD_SUCCESS,
  inactive = STEELYARD_INACTIVE,  ///< nothing was done, and nothing needs to be: see message()
  error = STEELYARD_ERROR         ///< the call was wrong: see message()
};

/// The end of a phase of computing. Primary thread, not collective: see steelyard_step().
inline Status step() noexcept { return static_cast<Status>(steelyard_step()); }

/// True where this process is being balanced now; message() says why not. Any thread.
inline bool active() noexcept { return steelyard_active() != 0; }

/// The sentence of this thread's last call that was not a success. Valid until the thread's next call.
inline std::string_view message() noexcept { return steelyard_message(); }

/// The version of the library in use. Any thread.
inline std::string_view version() noexcept { return steelyard_version(); }

}  // namespace steelyard

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::base {

/// A sanitizer makes searching tests take up to forty times as long: they search less then.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

}  // namespace steelyard::base

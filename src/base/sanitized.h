// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace steelyard::base {

// gcc defines macros; clang 19, which compiles the tests for AddressSanitizer, answers a question.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEELYARD_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STEELYARD_SANITIZED
#endif
#endif

/// A sanitizer makes searching tests take up to forty times as long: they search less then.
#ifdef STEELYARD_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

}  // namespace steelyard::base

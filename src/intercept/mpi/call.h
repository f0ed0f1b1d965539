// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

#include "intercept/mpi/library.h"
#include "session/session.h"
#include "session/waits.h"

// What all wrappers share. Each is transparent: where the runtime does not measure the call, it is the MPI library's
// own.
#define STEELYARD_EXPORT __attribute__((visibility("default")))
/// The place in the program that called the wrapper in which this stands.
#define STEELYARD_SITE ::steelyard::intercept::site(__builtin_return_address(0))

namespace steelyard::intercept {

using Site = std::uint64_t;

/// Set while a binding that ends in a C wrapper is being called: all its calls would have one return address.
inline thread_local Site t_caller = 0;

inline Site site(void* return_address) { return t_caller != 0 ? t_caller : reinterpret_cast<Site>(return_address); }

/// Tells the C wrapper to which a call goes on from where in the program it came.
class CalledFrom {
 public:
  explicit CalledFrom(void* return_address) : outer_(t_caller) { t_caller = site(return_address); }
  ~CalledFrom() { t_caller = outer_; }
  CalledFrom(const CalledFrom&) = delete;
  CalledFrom& operator=(const CalledFrom&) = delete;

 private:
  Site outer_;
};

/// True inside of a measured call: what the library or a callback of the program calls from there is a part of it.
inline thread_local bool t_inside = false;

inline bool measures() { return !t_inside && session::measures_this_call(); }

/// True if the MPI library handles a call as it is, because it is not measured or made within another call. Then the
/// time until the end of the `if` that declares it is the call's.
class PassedOn {
 public:
  PassedOn() : passed_on_(!measures()) {
    if (!passed_on_ || t_inside) return;
    call_.emplace();
    t_inside = true;
  }
  ~PassedOn() {
    if (call_) t_inside = false;
  }
  PassedOn(const PassedOn&) = delete;
  PassedOn& operator=(const PassedOn&) = delete;
  explicit operator bool() const { return passed_on_; }

 private:
  bool passed_on_;
  std::optional<session::RegionCall> call_;
};

/// A measured call. Only where measures().
class Call : public session::BlockingCall {
 public:
  explicit Call(Site site) : BlockingCall(site) { t_inside = true; }
  ~Call() { t_inside = false; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

/// Repeats `test(&done)` until it is done or fails; between two tests the core is free for others. MPI_SUCCESS or the
/// error.
template <typename Test>
int until_done(Call& call, Test test) {
  for (int done = 0;;) {
    const int error = test(&done);
    if (error != MPI_SUCCESS || done != 0) return error;
    call.pause();
  }
}

/// A call that is measured, but waits as the library does.
template <typename Native>
auto timed(Site site, Native native) {
  if (const PassedOn passed_on{}) return native();
  const Call call(site);
  return native();
}

}  // namespace steelyard::intercept

/// The body of a wrapper that measures its call and does nothing else.
#define STEELYARD_TIMED(native) return ::steelyard::intercept::timed(STEELYARD_SITE, [&] { return native; })

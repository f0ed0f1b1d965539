// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "steelyard/cores.h"
#include "steelyard/steelyard.hpp"

/// @file
/// The cores of steelyard/cores.h for C++17, header only; that header documents each call.
///
///     steelyard::cores_init();   // before MPI_Init
///     ...
///     steelyard::cores_acquire(64);
///     run_pool(work, steelyard::cores_get());
///
/// Exceptions: the policy of steelyard.hpp. What a callback throws is thrown again by cores_poll(), after it has
/// returned the cores that their owners have asked for.
namespace steelyard {

/// What cores_on_change() takes: is told the CPUs on which the program may run from now on.
using CoresCallback = std::function<void(const std::vector<int>& cpus)>;

namespace detail {

struct CoresChange {
  CoresCallback callback;
  std::exception_ptr thrown;
};
inline CoresChange& cores_change() {
  static CoresChange change;
  return change;
}
inline void cores_changed(const int* cpus, int count, void*) {
  try {
    cores_change().callback(std::vector<int>(cpus, cpus + count));
  } catch (...) {
    cores_change().thrown = std::current_exception();
  }
}

}  // namespace detail

/// See steelyard_cores_init().
/// @throws Error if called after MPI_Init, or if `cores` is negative
inline void cores_init(int cores = 0) { detail::check(steelyard_cores_init(cores)); }

/// True if cores can move now; otherwise message() says why not. See steelyard_cores_movable().
inline bool cores_movable() noexcept { return steelyard_cores_movable() != 0; }

/// The CPUs on which this rank may run threads now, its own first. See steelyard_cores_get().
/// @throws Error if called by another thread than the primary one or inside a parallel region, as do all of these
inline std::vector<int> cores_get() {
  int count = 0;
  detail::check(steelyard_cores_get(nullptr, 0, &count));
  std::vector<int> cpus(static_cast<std::size_t>(count));
  detail::check(steelyard_cores_get(cpus.data(), count, &count));
  return cpus;
}

/// Lends cores of this rank, and returns how many. See steelyard_cores_lend().
inline int cores_lend(int cores) {
  int lent = 0;
  detail::check(steelyard_cores_lend(cores, &lent));
  return lent;
}

/// Takes lent cores back, and returns how many others still use. See steelyard_cores_reclaim().
inline int cores_reclaim() {
  int missing = 0;
  detail::check(steelyard_cores_reclaim(&missing));
  return missing;
}

/// Acquires cores of other ranks, and returns how many. See steelyard_cores_acquire().
inline int cores_acquire(int cores) {
  int acquired = 0;
  detail::check(steelyard_cores_acquire(cores, &acquired));
  return acquired;
}

/// Returns all acquired cores. See steelyard_cores_release().
inline void cores_release() { detail::check(steelyard_cores_release()); }

/// Sets the callback of cores_poll(); an empty one for none. See steelyard_cores_on_change().
inline void cores_on_change(CoresCallback callback) {
  const bool none = !callback;
  detail::check(steelyard_cores_on_change(none ? nullptr : detail::cores_changed, nullptr));
  detail::cores_change().callback = std::move(callback);
}

/// A point at which the program can change its threads. See steelyard_cores_poll().
/// @throws what the callback has thrown
inline void cores_poll() {
  detail::check(steelyard_cores_poll());
  if (std::exception_ptr thrown = std::exchange(detail::cores_change().thrown, nullptr)) std::rethrow_exception(thrown);
}

}  // namespace steelyard

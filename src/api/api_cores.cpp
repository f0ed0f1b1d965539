// SPDX-License-Identifier: BSD-3-Clause
// steelyard/cores.h under `steelyard run`. Linked into the preload library; api_inactive.cpp has what programs get
// without it.
#include "steelyard/cores.h"

#include <algorithm>
#include <vector>

#include "api/guarded.h"
#include "session/program_cores.h"
#include "session/session.h"

namespace steelyard::api {
namespace {

/// Of the primary thread.
struct Change {
  steelyard_cores_callback_t callback = nullptr;
  void* data = nullptr;
  std::vector<int> told;  ///< the CPUs that the program knows of
  bool in_callback = false;
};
Change& change() {
  static auto& kept = *new Change;
  return kept;
}

/// What `call` returns, if this thread may make the call.
template <class Call>
steelyard_status_t by_primary(const char* name, Call&& call) {
  return guarded(name, false, "", [&]() -> base::Status {
    const bool active = session::inactive_reason().empty();
    if (active && (!session::measures_this_call() || change().in_callback))
      return invalid_state(
          "{}() was called inside a parallel region, in a callback of steelyard_cores_poll(), or in a thread other "
          "than the one that called MPI_Init: call it in that thread, between two regions",
          name);
    return call();
  });
}

/// The same for a call that takes and returns a number of cores.
template <class Call>
steelyard_status_t counted(const char* name, int cores, int* count, Call&& call) {
  if (count != nullptr) *count = 0;
  return by_primary(name, [&]() -> base::Status {
    if (cores < 0) return invalid_argument("{}() was called for {} cores: pass 0 or more", name, cores);
    const int done = call();
    if (count != nullptr) *count = done;
    return {};
  });
}

}  // namespace
}  // namespace steelyard::api

using namespace steelyard;
using namespace steelyard::api;

extern "C" {

steelyard_status_t steelyard_cores_init(int cores) {
  return guarded("steelyard_cores_init", false, "", [&]() -> base::Status {
    if (cores < 0) return invalid_argument("steelyard_cores_init() was called for {} cores: pass 0 or more", cores);
    return session::declare_cores(cores);
  });
}

int steelyard_cores_movable(void) { return without(__func__, session::immovable_reason); }

steelyard_status_t steelyard_cores_get(int* cpus, int capacity, int* count) {
  if (count != nullptr) *count = 0;
  return guarded("steelyard_cores_get", count == nullptr || (cpus == nullptr && capacity != 0), "pointer", [&] {
    return by_primary("steelyard_cores_get", [&]() -> base::Status {
      if (capacity < 0) return invalid_argument("steelyard_cores_get() was called with a capacity of {}", capacity);
      std::vector<int>& told = change().told;
      told = session::cpus_in_use();
      std::copy_n(told.begin(), std::min(told.size(), static_cast<std::size_t>(capacity)), cpus);
      *count = static_cast<int>(told.size());
      return {};
    });
  });
}

steelyard_status_t steelyard_cores_lend(int cores, int* lent) {
  return counted("steelyard_cores_lend", cores, lent, [&] { return session::lend_cores(cores); });
}

steelyard_status_t steelyard_cores_reclaim(int* missing) {
  return counted("steelyard_cores_reclaim", 0, missing, [] { return session::reclaim_cores(); });
}

steelyard_status_t steelyard_cores_acquire(int cores, int* acquired) {
  return counted("steelyard_cores_acquire", cores, acquired, [&] { return session::acquire_cores(cores); });
}

steelyard_status_t steelyard_cores_release(void) {
  return counted("steelyard_cores_release", 0, nullptr, [] { return session::release_cores(), 0; });
}

steelyard_status_t steelyard_cores_on_change(steelyard_cores_callback_t callback, void* data) {
  return by_primary("steelyard_cores_on_change", [&]() -> base::Status {
    Change& kept = change();
    if (kept.told.empty()) kept.told = session::cpus_in_use();
    kept.callback = callback;
    kept.data = data;
    return {};
  });
}

steelyard_status_t steelyard_cores_poll(void) {
  return by_primary("steelyard_cores_poll", []() -> base::Status {
    Change& kept = change();
    std::vector<int> cpus = session::poll_cores();
    const bool changed = cpus != kept.told;
    kept.told = std::move(cpus);
    if (changed && kept.callback != nullptr) {
      kept.in_callback = true;
      kept.callback(kept.told.data(), static_cast<int>(kept.told.size()), kept.data);
      kept.in_callback = false;
    }
    session::return_wanted_cores(kept.told);
    return {};
  });
}
}

// SPDX-License-Identifier: BSD-3-Clause
#include "loops/openmp.h"

#include <dlfcn.h>

#include <atomic>

#include "base/hash.h"
#include "base/loaded_library.h"

namespace steelyard::loops::openmp {
namespace {

struct Api {
  int (*thread)() = nullptr;
  int (*threads)() = nullptr;
  int (*level)() = nullptr;
  int (*ancestor)(int) = nullptr;
  bool cancels = false;
};

/// The library of the runtime itself. Under `steelyard run`, a lookup by name alone finds Steelyard's wrappers. These
/// note each call as the program's, and the program would then keep its thread count.
void* library() {
  constexpr const char* kNeverNoted = "omp_get_level";
  void* function = dlsym(RTLD_DEFAULT, kNeverNoted);
  // A plug-in that the program opened may have brought a runtime.
  if (function == nullptr) function = base::find_in_libraries(kNeverNoted, nullptr);
  void* const runtime = function != nullptr ? base::library_of(function) : nullptr;
  return runtime != nullptr ? runtime : RTLD_DEFAULT;
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

// A runtime may be loaded late, with a library of the program: looked for until it is there, once for each number of
// loaded libraries.
const Api* api() {
  static std::atomic<const Api*> found = nullptr;
  static std::atomic<unsigned long long> searched = 0;
  if (const Api* const known = found.load(std::memory_order_acquire); known != nullptr) return known;
  const unsigned long long libraries = base::loaded_libraries();
  if (searched.load(std::memory_order_relaxed) == libraries) return nullptr;
  Api looked;
  void* const runtime = library();
  find(runtime, "omp_get_thread_num", looked.thread);
  find(runtime, "omp_get_num_threads", looked.threads);
  find(runtime, "omp_get_level", looked.level);
  find(runtime, "omp_get_ancestor_thread_num", looked.ancestor);
  if (looked.thread == nullptr || looked.threads == nullptr || looked.level == nullptr || looked.ancestor == nullptr) {
    searched.store(libraries, std::memory_order_relaxed);
    return nullptr;
  }
  int (*cancellation)() = nullptr;
  find(runtime, "omp_get_cancellation", cancellation);
  looked.cancels = cancellation != nullptr && cancellation() != 0;
  const Api* const made = new Api(looked);
  const Api* none = nullptr;
  if (found.compare_exchange_strong(none, made)) return made;
  delete made;
  return none;
}

}  // namespace

bool known() { return api() != nullptr; }

bool may_cancel() {
  const Api* const runtime = api();
  return runtime != nullptr && runtime->cancels;
}

Position position() {
  const Api* const runtime = api();
  if (runtime == nullptr) return {};
  Position here{runtime->thread(), runtime->threads(), 0};
  const int level = runtime->level();
  for (int outer = 1; outer < level; ++outer)
    here.path = base::spread(here.path + static_cast<std::uint64_t>(runtime->ancestor(outer)) + 1);
  return here;
}

bool in_region() {
  const Api* const runtime = api();
  return runtime != nullptr && runtime->level() > 0;
}

}  // namespace steelyard::loops::openmp

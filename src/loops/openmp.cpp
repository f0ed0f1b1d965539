#include "loops/openmp.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <vector>

namespace steelyard::loops::openmp {
namespace {

struct Api {
  const void* base = nullptr;  ///< of the module that it is
  int (*thread)() = nullptr;
  int (*threads)() = nullptr;
  int (*level)() = nullptr;
  int (*ancestor)(int) = nullptr;
  bool cancels = false;
};

struct Runtimes {
  unsigned long long loads = 0;  ///< modules that the process had loaded by then
  std::vector<Api> all;
  const Runtimes* before = nullptr;
};

/// Under `steelyard run` the runtime's other calls are noted as the program's, who would then keep its thread count. This one
/// is not, so it leads to the runtime itself.
constexpr const char* kNeverNoted = "omp_get_level";

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

/// The runtime that this handle leads to.
Api api_of(void* library) {
  Api api;
  Dl_info place{};
  void* const known = dlsym(library, kNeverNoted);
  if (known == nullptr || dladdr(known, &place) == 0) return api;
  void* const opened = dlopen(place.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  void* const runtime = opened != nullptr ? opened : library;
  find(runtime, "omp_get_thread_num", api.thread);
  find(runtime, "omp_get_num_threads", api.threads);
  find(runtime, kNeverNoted, api.level);
  find(runtime, "omp_get_ancestor_thread_num", api.ancestor);
  if (api.thread == nullptr || api.threads == nullptr || api.level == nullptr || api.ancestor == nullptr) return {};
  int (*cancellation)() = nullptr;
  find(runtime, "omp_get_cancellation", cancellation);
  api.cancels = cancellation != nullptr && cancellation() != 0;
  api.base = place.dli_fbase;
  return api;
}

unsigned long long modules_loaded() {
  unsigned long long loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = module->dlpi_adds;
        return 1;
      },
      &loads);
  return loads;
}

std::vector<std::string> modules() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* result) {
        if (module->dlpi_name != nullptr && *module->dlpi_name != 0)
          static_cast<std::vector<std::string>*>(result)->emplace_back(module->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

void add(Runtimes& runtimes, const Api& api) {
  const bool known = std::ranges::any_of(runtimes.all, [&](const Api& other) { return other.base == api.base; });
  if (api.base != nullptr && !known) runtimes.all.push_back(api);
}

std::atomic<const Runtimes*> g_runtimes = nullptr;

/// A runtime may be loaded late, with a library of the program: looked for again where modules have come since.
const Runtimes& looked_for() {
  static std::mutex mutex;
  const auto up_to_date = [] {
    const Runtimes* const known = g_runtimes.load(std::memory_order_acquire);
    return known != nullptr && known->loads == modules_loaded() ? known : nullptr;
  };
  if (const Runtimes* const known = up_to_date(); known != nullptr) return *known;
  const std::lock_guard lock(mutex);
  if (const Runtimes* const known = up_to_date(); known != nullptr) return *known;
  // Never freed: others may be looking at the one before.
  auto* const found = new Runtimes{modules_loaded(), {}, g_runtimes.load(std::memory_order_relaxed)};
  add(*found, api_of(RTLD_DEFAULT));
  for (const std::string& name : modules()) {
    void* const module = dlopen(name.c_str(), RTLD_NOLOAD | RTLD_LAZY);
    if (module == nullptr) continue;
    // Each module leads to what it was linked with, even where that is hidden from the others.
    add(*found, api_of(module));
    dlclose(module);
  }
  g_runtimes.store(found, std::memory_order_release);
  return *found;
}

/// The one runtime that the calling thread is in a region of; `several` where there are more.
const Api* active(const Runtimes& runtimes, bool& several) {
  const Api* only = nullptr;
  several = false;
  for (const Api& each : runtimes.all) {
    if (each.level() == 0) continue;
    several = only != nullptr;
    only = &each;
    if (several) break;
  }
  return only;
}

/// What the module of this address was linked with.
const Api* linked_with(const void* caller, const Runtimes& runtimes) {
  struct Known {
    const void* caller = nullptr;
    const Runtimes* runtimes = nullptr;
    const Api* api = nullptr;
  };
  constexpr std::size_t kSlots = 16;
  static thread_local std::array<Known, kSlots> all_known = {};
  Known& known = all_known[(reinterpret_cast<std::uint64_t>(caller) * 0x9e3779b97f4a7c15ULL >> 32) % kSlots];
  if (known.caller == caller && known.runtimes == &runtimes) return known.api;
  const Api* its = nullptr;
  Dl_info place{};
  if (caller != nullptr && dladdr(caller, &place) != 0) {
    // The program itself is opened by no name.
    const bool library =
        std::ranges::any_of(modules(), [&](const std::string& name) { return name == place.dli_fname; });
    if (void* const module = dlopen(library ? place.dli_fname : nullptr, RTLD_NOLOAD | RTLD_LAZY); module != nullptr) {
      const Api linked = api_of(module);
      const auto found = std::ranges::find(runtimes.all, linked.base, &Api::base);
      if (linked.base != nullptr && found != runtimes.all.end()) its = &*found;
      dlclose(module);
    }
  }
  known = {caller, &runtimes, its};
  return its;
}

std::atomic<bool> g_confused = false;

Position position_in(const Api& runtime) {
  Position here;
  here.in_region = true;
  here.thread = runtime.thread();
  here.threads = runtime.threads();
  const int level = runtime.level();
  for (int outer = 1; outer < level; ++outer)
    here.path = (here.path + static_cast<std::uint64_t>(runtime.ancestor(outer)) + 1) * 0x9e3779b97f4a7c15ULL;
  return here;
}

}  // namespace

std::atomic<bool>& confused() { return g_confused; }

bool may_cancel() {
  const Runtimes* const known = g_runtimes.load(std::memory_order_acquire);
  return known != nullptr && std::ranges::any_of(known->all, &Api::cancels);
}

Position position(const void* caller) {
  const Runtimes* known = g_runtimes.load(std::memory_order_acquire);
  bool several = false;
  const Api* here = known == nullptr ? nullptr : active(*known, several);
  if (here == nullptr) {
    // Alone, or in a region of a runtime that has come since.
    known = &looked_for();
    here = active(*known, several);
    if (here == nullptr) return {};
  }
  if (!several) return position_in(*here);
  if (const Api* const linked = linked_with(caller, *known); linked != nullptr && linked->level() > 0)
    return position_in(*linked);
  Position nowhere;
  nowhere.in_region = true;
  nowhere.ambiguous = true;
  return nowhere;
}

}  // namespace steelyard::loops::openmp

#include "loops/openmp.h"

#include <dlfcn.h>

#include <atomic>

namespace steelyard::loops::openmp {
namespace {

struct Api {
  int (*thread)() = nullptr;
  int (*threads)() = nullptr;
  int (*level)() = nullptr;
  int (*ancestor)(int) = nullptr;
};

template <class Function>
void find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// A runtime may be loaded late, with a library of the program: looked for until it is there.
const Api* api() {
  static std::atomic<const Api*> found = nullptr;
  if (const Api* const known = found.load(std::memory_order_acquire); known != nullptr) return known;
  Api looked;
  find("omp_get_thread_num", looked.thread);
  find("omp_get_num_threads", looked.threads);
  find("omp_get_level", looked.level);
  find("omp_get_ancestor_thread_num", looked.ancestor);
  if (looked.thread == nullptr || looked.threads == nullptr || looked.level == nullptr || looked.ancestor == nullptr)
    return nullptr;
  const Api* const made = new Api(looked);
  const Api* none = nullptr;
  if (found.compare_exchange_strong(none, made)) return made;
  delete made;
  return none;
}

}  // namespace

Position position() {
  const Api* const runtime = api();
  if (runtime == nullptr) return {};
  Position here{runtime->thread(), runtime->threads(), 0};
  const int level = runtime->level();
  for (int outer = 1; outer < level; ++outer)
    here.path = (here.path + static_cast<std::uint64_t>(runtime->ancestor(outer)) + 1) * 0x9e3779b97f4a7c15ULL;
  return here;
}

}  // namespace steelyard::loops::openmp

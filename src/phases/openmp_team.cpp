// SPDX-License-Identifier: BSD-3-Clause
#include "phases/openmp_team.h"

#include <dlfcn.h>

namespace steelyard::phases::openmp {
namespace {

struct Api {
  int (*max_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  int (*thread_num)() = nullptr;
  int (*in_parallel)() = nullptr;
  int (*proc_bind)() = nullptr;
  void (*parallel)(void (*)(void*), void*, unsigned, unsigned) = nullptr;
  int (*blocktime)() = nullptr;
  void (*set_blocktime)(int) = nullptr;
};

template <class Function>
void find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// A runtime may be loaded late, with a library of the program: looked for until it is there.
const Api* api() {
  static Api found;
  if (found.parallel != nullptr) return &found;
  Api looked;
  find("GOMP_parallel", looked.parallel);
  if (looked.parallel == nullptr) return nullptr;
  find("omp_get_max_threads", looked.max_threads);
  find("omp_set_num_threads", looked.set_threads);
  find("omp_get_thread_num", looked.thread_num);
  find("omp_in_parallel", looked.in_parallel);
  find("omp_get_proc_bind", looked.proc_bind);
  find("kmp_get_blocktime", looked.blocktime);
  find("kmp_set_blocktime", looked.set_blocktime);
  if (looked.max_threads == nullptr || looked.set_threads == nullptr || looked.thread_num == nullptr ||
      looked.in_parallel == nullptr) {
    return nullptr;
  }
  found = looked;
  return &found;
}

struct Work {
  const std::function<void(int)>& body;
  int (*thread_num)();
};

void outlined(void* data) {
  const auto* work = static_cast<const Work*>(data);
  work->body(work->thread_num());
}

}  // namespace

int max_threads() { return api() == nullptr ? 0 : api()->max_threads(); }
void set_threads(int count) {
  if (api() != nullptr) api()->set_threads(count);
}
bool in_parallel() { return api() != nullptr && api()->in_parallel() != 0; }
bool binds_threads() { return api() != nullptr && api()->proc_bind != nullptr && api()->proc_bind() != 0; }

bool run_team(const std::function<void(int)>& body) {
  if (api() == nullptr) return false;
  Work work{body, api()->thread_num};
  api()->parallel(outlined, &work, 0, 0);
  return true;
}

bool run_last_team(const std::function<void(int)>& body) {
  if (api() == nullptr) return false;
  if (api()->blocktime == nullptr || api()->set_blocktime == nullptr) return run_team(body);
  const int before = api()->blocktime();
  api()->set_blocktime(0);
  const bool ran = run_team(body);
  api()->set_blocktime(before);
  return ran;
}

}  // namespace steelyard::phases::openmp

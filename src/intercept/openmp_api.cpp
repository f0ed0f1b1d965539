// SPDX-License-Identifier: BSD-3-Clause
// The OpenMP calls by which a program learns or fixes its number of threads, in C and Fortran. Each forwards to the
// OpenMP runtime behind Steelyard, after asking the Session.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/loaded_library.h"
#include "base/log.h"
#include "intercept/clause.h"
#include "session/openmp.h"
#include "session/worksharing.h"

namespace steelyard::intercept {

namespace {
thread_local bool t_clause = false;
constinit thread_local RegionSource t_source;
}  // namespace

void* find_behind(const char* name) {
  if (void* found = base::next_or_opened(name)) return found;
  base::warn(fmt::format("no OpenMP runtime has {}: run without `steelyard run`", name));
  std::abort();
}

namespace {

int get_max_threads() {
  static int (*real)() = nullptr;
  return session::told_max_threads(behind("omp_get_max_threads", real)());
}

int get_num_threads(const void* caller) {
  static int (*real)() = nullptr;
  const session::VirtualThread* const mine = session::virtual_thread(caller);
  // Only this query shows a loop: `master` queries the thread ID, too.
  if (mine != nullptr) {
    session::work_shared();  // the first thread may find no virtual thread left
  } else if (session::team_asked(caller)) {
    session::worksharing_begun();
  }
  return mine != nullptr ? mine->size : behind("omp_get_num_threads", real)();
}

int get_thread_num(const void* caller) {
  static int (*real)() = nullptr;
  if (const session::VirtualThread* const mine = session::virtual_thread(caller)) return mine->number;
  session::team_asked(caller);
  return behind("omp_get_thread_num", real)();
}

int get_team_size(int level) {
  static int (*real)(int) = nullptr;
  session::team_asked(nullptr);
  return behind("omp_get_team_size", real)(level);
}

int get_ancestor_thread_num(int level) {
  static int (*real)(int) = nullptr;
  session::team_asked(nullptr);
  return behind("omp_get_ancestor_thread_num", real)(level);
}

void set_num_threads(int count) {
  static void (*real)(int) = nullptr;
  session::threads_set(count);
  behind("omp_set_num_threads", real)(count);
}

}  // namespace

unsigned int note_clause(unsigned int count) {
  if (session::is_redundant_clause(static_cast<int>(count))) count = 0;
  t_clause = count > 1;
  return count;
}

bool take_clause_flag() {
  const bool met = t_clause;
  t_clause = false;
  return met;
}

void set_region_source(const RegionSource& source) { t_source = source; }
RegionSource take_region_source() { return std::exchange(t_source, {}); }

}  // namespace steelyard::intercept

using namespace steelyard::intercept;

STEELYARD_EXPORT int omp_get_max_threads() { return get_max_threads(); }
STEELYARD_EXPORT int omp_get_max_threads_() { return get_max_threads(); }
// The compiler's own queries have these names, a Fortran program's the ones with an underscore.
STEELYARD_EXPORT int omp_get_num_threads() { return get_num_threads(__builtin_return_address(0)); }
STEELYARD_EXPORT int omp_get_num_threads_() { return get_num_threads(nullptr); }
STEELYARD_EXPORT int omp_get_thread_num() { return get_thread_num(__builtin_return_address(0)); }
STEELYARD_EXPORT int omp_get_thread_num_() { return get_thread_num(nullptr); }
STEELYARD_EXPORT int omp_get_team_size(int level) { return get_team_size(level); }
STEELYARD_EXPORT int omp_get_team_size_(const int* level) { return get_team_size(*level); }
STEELYARD_EXPORT int omp_get_ancestor_thread_num(int level) { return get_ancestor_thread_num(level); }
STEELYARD_EXPORT int omp_get_ancestor_thread_num_(const int* level) { return get_ancestor_thread_num(*level); }
STEELYARD_EXPORT void omp_set_num_threads(int count) { set_num_threads(count); }
STEELYARD_EXPORT void omp_set_num_threads_(const int* count) { set_num_threads(*count); }

// clang announces a num_threads clause by this call, gcc by an argument of the region (gomp_regions.cpp).
STEELYARD_EXPORT void __kmpc_push_num_threads(void* location, int thread, int count) {
  static void (*real)(void*, int, int) = nullptr;
  if (note_clause(static_cast<unsigned int>(std::max(count, 1))) == 0) return;
  t_clause = true;
  behind("__kmpc_push_num_threads", real)(location, thread, count);
}

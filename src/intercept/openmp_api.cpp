// The OpenMP calls by which a program learns or fixes its number of threads, in C and Fortran. Each forwards to the OpenMP
// runtime behind us, after the Runtime has had its say.
#include <dlfcn.h>

#include "intercept/clause.h"
#include "runtime/openmp.h"

#define STEELYARD_EXPORT extern "C" __attribute__((visibility("default")))

namespace steelyard::intercept {
namespace {

thread_local bool t_clause = false;

/// The definition behind ours; looked up once. A program that calls it has an OpenMP runtime, so it is there.
template <class F>
F* behind(const char* name, F*& cache) {
  if (cache == nullptr) cache = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
  return cache;
}

int get_max_threads() {
  static int (*real)() = nullptr;
  return runtime::shown_max_threads(behind("omp_get_max_threads", real)());
}

int get_num_threads() {
  static int (*real)() = nullptr;
  const int team = behind("omp_get_num_threads", real)();
  runtime::team_size_shown(team);
  return team;
}

void set_num_threads(int count) {
  static void (*real)(int) = nullptr;
  if (runtime::threads_set(count)) behind("omp_set_num_threads", real)(count);
}

}  // namespace

bool take_clause_flag() {
  const bool met = t_clause;
  t_clause = false;
  return met;
}

}  // namespace steelyard::intercept

using namespace steelyard::intercept;

STEELYARD_EXPORT int omp_get_max_threads() { return get_max_threads(); }
STEELYARD_EXPORT int omp_get_max_threads_() { return get_max_threads(); }
STEELYARD_EXPORT int omp_get_num_threads() { return get_num_threads(); }
STEELYARD_EXPORT int omp_get_num_threads_() { return get_num_threads(); }
STEELYARD_EXPORT void omp_set_num_threads(int count) { set_num_threads(count); }
STEELYARD_EXPORT void omp_set_num_threads_(const int* count) { set_num_threads(*count); }

// clang announces a num_threads clause with a call of its own, gcc by an argument.
STEELYARD_EXPORT void __kmpc_push_num_threads(void* location, int thread, int count) {
  static void (*real)(void*, int, int) = nullptr;
  t_clause = true;
  behind("__kmpc_push_num_threads", real)(location, thread, count);
}

STEELYARD_EXPORT void GOMP_parallel(void (*body)(void*), void* data, unsigned int count, unsigned int flags) {
  static void (*real)(void (*)(void*), void*, unsigned int, unsigned int) = nullptr;
  t_clause = count > 1;
  behind("GOMP_parallel", real)(body, data, count, flags);
}

// SPDX-License-Identifier: BSD-3-Clause
// Explicit tasks of GNU's OpenMP runtime. A thread that executes a task at a barrier or at a taskwait computes: the
// wait is interrupted. The runtime copies the data of a task and, for taskloop, writes into the copy, so the data stay
// as they are: each task function gets a function of ours that brackets it.
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "intercept/gomp.h"
#include "session/openmp.h"

namespace steelyard::intercept::gomp {
namespace {

constexpr std::size_t kFunctions = 512;  // Size: task constructs of a program; those beyond are not bracketed

std::array<std::atomic<Body>, kFunctions> g_bodies;

void run_task(Body body, void* data) {
  if (!in_measured_region()) return body(data);
  const bool waited = session::task_begin();
  body(data);
  session::task_end(waited);
}

template <std::size_t kIndex>
void bracket(void* data) {
  run_task(g_bodies[kIndex].load(std::memory_order_relaxed), data);
}

template <std::size_t... kIndex>
constexpr std::array<Body, kFunctions> brackets(std::index_sequence<kIndex...>) {
  return {bracket<kIndex>...};
}
constexpr std::array<Body, kFunctions> kBrackets = brackets(std::make_index_sequence<kFunctions>());

}  // namespace

Body bracketed(Body body) {
  if (!is_gnu()) return body;
  const std::size_t home = (reinterpret_cast<std::size_t>(body) >> 4) % kFunctions;
  for (std::size_t step = 0; step < kFunctions; ++step) {
    const std::size_t i = (home + step) % kFunctions;
    Body present = g_bodies[i].load(std::memory_order_relaxed);
    if (present == nullptr && g_bodies[i].compare_exchange_strong(present, body)) present = body;
    if (present == body) return kBrackets[i];
  }
  return body;
}

}  // namespace steelyard::intercept::gomp

using namespace steelyard::intercept;
using namespace steelyard::intercept::gomp;

using Copy = void (*)(void*, void*);

// gcc 4.7 passes seven arguments, gcc 13 ten: the registers and words of the stack beyond are passed on unread.
STEELYARD_EXPORT void GOMP_task(Body body, void* data, Copy copy, long size, long align, bool deferred, unsigned flags,
                                void** depend, int priority, void* detach) {
  static void (*real)(Body, void*, Copy, long, long, bool, unsigned, void**, int, void*) = nullptr;
  steelyard::session::work_shared();
  behind("GOMP_task", real)(bracketed(body), data, copy, size, align, deferred, flags, depend, priority, detach);
}

STEELYARD_EXPORT void GOMP_taskloop(Body body, void* data, Copy copy, long size, long align, unsigned flags,
                                    unsigned long tasks, int priority, long from, long to, long step) {
  static void (*real)(Body, void*, Copy, long, long, unsigned, unsigned long, int, long, long, long) = nullptr;
  behind("GOMP_taskloop", real);
  steelyard::session::work_shared();
  const Wait wait;
  real(bracketed(body), data, copy, size, align, flags, tasks, priority, from, to, step);
}

STEELYARD_EXPORT void GOMP_taskloop_ull(Body body, void* data, Copy copy, long size, long align, unsigned flags,
                                        unsigned long tasks, int priority, unsigned long long from,
                                        unsigned long long to, unsigned long long step) {
  static void (*real)(Body, void*, Copy, long, long, unsigned, unsigned long, int, unsigned long long,
                      unsigned long long, unsigned long long) = nullptr;
  behind("GOMP_taskloop_ull", real);
  steelyard::session::work_shared();
  const Wait wait;
  real(bracketed(body), data, copy, size, align, flags, tasks, priority, from, to, step);
}

STEELYARD_EXPORT void GOMP_taskwait() {
  static void (*real)() = nullptr;
  behind("GOMP_taskwait", real);
  const Wait wait;
  real();
}

STEELYARD_EXPORT void GOMP_taskwait_depend(void** depend) {
  static void (*real)(void**) = nullptr;
  behind("GOMP_taskwait_depend", real);
  const Wait wait;
  real(depend);
}

STEELYARD_EXPORT void GOMP_taskgroup_end() {
  static void (*real)() = nullptr;
  behind("GOMP_taskgroup_end", real);
  const Wait wait;
  real();
}

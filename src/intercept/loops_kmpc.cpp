// SPDX-License-Identifier: BSD-3-Clause
// Loops that clang has compiled (and what else calls LLVM's entry points): their chunks come from src/loops where the
// runtime would take them from its own queue.
#include <cstdint>
#include <optional>

#include "intercept/clause.h"
#include "intercept/run_schedule.h"
#include "session/worksharing.h"

namespace steelyard::intercept {
namespace {

using session::Place;

// Schedules as the compiler writes them: a kind, and above it what the program says of the order of chunks.
enum Kind : std::int32_t {
  kDynamic = 35,
  kGuided = 36,
  kRuntime = 37,
  kAuto = 38,
  kOrderedFirst = 64,
  kOrderedLast = 72
};
constexpr std::int32_t kMonotonic = 1 << 29, kNonmonotonic = 1 << 30;  // Format: sched_type of LLVM's runtime

// Before OpenMP 5.0, each thread had its chunks in ascending order: compilers mark that by neither modifier.
std::optional<session::Left> reason_to_leave(std::int32_t schedule) {
  const std::int32_t kind = schedule & ~(kMonotonic | kNonmonotonic);
  if (kind >= kOrderedFirst && kind <= kOrderedLast) return session::Left::ordered;
  if (kind < kDynamic || kind > kAuto) return session::Left::other;
  if ((schedule & kNonmonotonic) == 0 && kind != kAuto) return session::Left::monotonic;
  if ((schedule & kMonotonic) != 0) return session::Left::monotonic;
  return std::nullopt;
}

/// True where the loop is ours. Otherwise the runtime is to be told this schedule and chunk.
template <class Value, class Wide, class Chunk>
bool begin(std::uint64_t site, std::int32_t& schedule, Value first, Value last, std::int64_t stride, Chunk& chunk) {
  if (!session::follows_loops()) return false;
  if (const auto why = reason_to_leave(schedule)) {
    session::loop_left(site, *why);
    return false;
  }
  const std::int32_t kind = schedule & ~kNonmonotonic;
  auto promised = kind == kGuided ? session::Schedule::guided : session::Schedule::dynamic;
  std::uint64_t grain = kind != kAuto && chunk > 0 ? static_cast<std::uint64_t>(chunk) : 1;
  if (kind == kRuntime) {
    const RunSchedule set = run_schedule_of_region();
    if (set.left) {
      session::loop_left(site, *set.left);
      if (set.call != 0) {
        schedule = set.call;
        chunk = static_cast<Chunk>(set.grain);
      }
      return false;
    }
    grain = set.grain;
    promised = set.schedule;
  }
  return session::loop_begun(site, loops::inclusive(static_cast<Wide>(first), static_cast<Wide>(last), stride), grain,
                             promised);
}

template <class Value, class Stride>
int next(Place& here, std::int32_t* is_last, Value* first, Value* last, Stride* stride) {
  session::Part part;
  if (!session::next_part(here, part)) {
    session::loop_ended(here);
    return 0;
  }
  *first = static_cast<Value>(here.space.value(part.begin));
  *last = static_cast<Value>(here.space.value(part.end - 1));
  if (stride != nullptr) *stride = static_cast<Stride>(here.space.stride);
  if (is_last != nullptr) *is_last = part.end == here.space.count ? 1 : 0;
  return 1;
}

}  // namespace
}  // namespace steelyard::intercept

using namespace steelyard::intercept;
using steelyard::session::place;
using steelyard::session::Place;
using steelyard::session::worksharing_begun;

#define STEELYARD_DISPATCH(suffix, Value, Stride, Wide)                                                           \
  STEELYARD_EXPORT void __kmpc_dispatch_init_##suffix(void* location, std::int32_t thread, std::int32_t schedule, \
                                                      Value first, Value last, Stride stride, Stride chunk) {     \
    static void (*real)(void*, std::int32_t, std::int32_t, Value, Value, Stride, Stride) = nullptr;               \
    if (begin<Value, Wide>(STEELYARD_SITE, schedule, first, last, stride, chunk)) return;                         \
    behind("__kmpc_dispatch_init_" #suffix, real)(location, thread, schedule, first, last, stride, chunk);        \
  }                                                                                                               \
  STEELYARD_EXPORT int __kmpc_dispatch_next_##suffix(void* location, std::int32_t thread, std::int32_t* is_last,  \
                                                     Value* first, Value* last, Stride* stride) {                 \
    static int (*real)(void*, std::int32_t, std::int32_t*, Value*, Value*, Stride*) = nullptr;                    \
    Place* const here = place();                                                                                  \
    if (here != nullptr && here->loop == Place::Loop::ours) [[likely]]                                            \
      return next(*here, is_last, first, last, stride);                                                           \
    return behind("__kmpc_dispatch_next_" #suffix, real)(location, thread, is_last, first, last, stride);         \
  }

STEELYARD_DISPATCH(4, std::int32_t, std::int32_t, std::int64_t)
STEELYARD_DISPATCH(4u, std::uint32_t, std::int32_t, std::uint64_t)
STEELYARD_DISPATCH(8, std::int64_t, std::int64_t, std::int64_t)
STEELYARD_DISPATCH(8u, std::uint64_t, std::int64_t, std::uint64_t)

// Static loops and sections are the runtime's. They tell Steelyard that a region does not repeat its work.
#define STEELYARD_STATIC(suffix, Value, Stride)                                                                        \
  STEELYARD_EXPORT void __kmpc_for_static_init_##suffix(void* location, std::int32_t thread, std::int32_t schedule,    \
                                                        std::int32_t* is_last, Value* first, Value* last,              \
                                                        Stride* stride, Stride increment, Stride chunk) {              \
    static void (*real)(void*, std::int32_t, std::int32_t, std::int32_t*, Value*, Value*, Stride*, Stride, Stride) =   \
        nullptr;                                                                                                       \
    worksharing_begun();                                                                                               \
    behind("__kmpc_for_static_init_" #suffix, real)(location, thread, schedule, is_last, first, last, stride,          \
                                                    increment, chunk);                                                 \
  }                                                                                                                    \
  STEELYARD_EXPORT void __kmpc_dist_for_static_init_##suffix(                                                          \
      void* location, std::int32_t thread, std::int32_t schedule, std::int32_t* is_last, Value* first, Value* last,    \
      Value* last_of_team, Stride* stride, Stride increment, Stride chunk) {                                           \
    static void (*real)(void*, std::int32_t, std::int32_t, std::int32_t*, Value*, Value*, Value*, Stride*, Stride,     \
                        Stride) = nullptr;                                                                             \
    worksharing_begun();                                                                                               \
    behind("__kmpc_dist_for_static_init_" #suffix, real)(location, thread, schedule, is_last, first, last,             \
                                                         last_of_team, stride, increment, chunk);                      \
  }                                                                                                                    \
  STEELYARD_EXPORT void __kmpc_dist_dispatch_init_##suffix(void* location, std::int32_t thread, std::int32_t schedule, \
                                                           std::int32_t* is_last, Value first, Value last,             \
                                                           Stride stride, Stride chunk) {                              \
    static void (*real)(void*, std::int32_t, std::int32_t, std::int32_t*, Value, Value, Stride, Stride) = nullptr;     \
    worksharing_begun();                                                                                               \
    behind("__kmpc_dist_dispatch_init_" #suffix, real)(location, thread, schedule, is_last, first, last, stride,       \
                                                       chunk);                                                         \
  }
STEELYARD_STATIC(4, std::int32_t, std::int32_t)
STEELYARD_STATIC(4u, std::uint32_t, std::int32_t)
STEELYARD_STATIC(8, std::int64_t, std::int64_t)
STEELYARD_STATIC(8u, std::uint64_t, std::int64_t)

// As Intel's compilers write sections.
STEELYARD_EXPORT std::int32_t __kmpc_sections_init(void* location, std::int32_t thread) {
  static std::int32_t (*real)(void*, std::int32_t) = nullptr;
  worksharing_begun();
  return behind("__kmpc_sections_init", real)(location, thread);
}

// Newer compilers mark a loop's end. A loop of ours ended when its iterations ran out. If a program calls this, its
// runtime defines it.
STEELYARD_EXPORT void __kmpc_dispatch_deinit(void* location, std::int32_t thread) {
  static void (*real)(void*, std::int32_t) = nullptr;
  Place* const here = place();
  if (here != nullptr && here->loop != Place::Loop::runtimes) {
    here->loop = Place::Loop::runtimes;
    return;
  }
  behind("__kmpc_dispatch_deinit", real)(location, thread);
}

// Called before a loop whose iterations wait for each other, which needs the runtime's order.
STEELYARD_EXPORT void __kmpc_doacross_init(void* location, std::int32_t thread, std::int32_t dimensions,
                                           const void* bounds) {
  static void (*real)(void*, std::int32_t, std::int32_t, const void*) = nullptr;
  if (Place* const here = place(); here != nullptr) here->left_next = true;
  behind("__kmpc_doacross_init", real)(location, thread, dimensions, bounds);
}
STEELYARD_EXPORT void __kmpc_doacross_fini(void* location, std::int32_t thread) {
  static void (*real)(void*, std::int32_t) = nullptr;
  if (Place* const here = place(); here != nullptr) here->left_next = false;
  behind("__kmpc_doacross_fini", real)(location, thread);
}

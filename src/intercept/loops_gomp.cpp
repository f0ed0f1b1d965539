// SPDX-License-Identifier: BSD-3-Clause
// Loops that gcc and gfortran have compiled, at the entry points that GNU's and LLVM's OpenMP runtimes have in common.
#include <cstdint>
#include <optional>

#include "intercept/gomp.h"
#include "intercept/run_schedule.h"
#include "session/worksharing.h"

namespace steelyard::intercept {
namespace {

using Unsigned = unsigned long long;
using gomp::Body;
using gomp::run_region;
using session::Place;
using session::Schedule;

/// True where the loop is ours.
bool begin(std::uint64_t site, Schedule schedule, long from, long to, long step, std::uint64_t grain) {
  if (!session::follows_loops() ||
      !session::loop_begun(site, loops::half_open<std::int64_t>(from, to, step), grain, schedule))
    return false;
  session::place()->limit = static_cast<std::uint64_t>(to);
  return true;
}

/// A loop that counts down has a negative step, in two's complement.
bool begin(std::uint64_t site, Schedule schedule, bool up, Unsigned from, Unsigned to, Unsigned step,
           std::uint64_t grain) {
  if (!session::follows_loops()) return false;
  const auto stride = static_cast<std::int64_t>(step);
  const auto space = up == (stride > 0) ? loops::half_open<std::uint64_t>(from, to, stride) : std::nullopt;
  if (!session::loop_begun(site, space, grain, schedule)) return false;
  session::place()->limit = to;
  return true;
}

/// The same with schedule(runtime). Returns in `set` what that stands for.
template <class... Bounds>
bool begin_runtime(RunSchedule& set, std::uint64_t site, Bounds... bounds) {
  if (!session::follows_loops()) return false;
  set = run_schedule_of_region();
  if (!set.left) return begin(site, set.schedule, bounds..., set.grain);
  session::loop_left(site, *set.left);
  return false;
}

/// Begins a loop of LLVM's runtime with the schedule `set`, for which GNU's entry points have no call. True if it has
/// iterations, which the caller asks for as usual.
template <class Value, class Stride, class Init>
bool start_as_set(const char* name, Init*& init, const RunSchedule& set, bool up, Value from, Value to, Stride step) {
  static std::int32_t (*thread_number)(void*) = nullptr;
  static struct {
    std::int32_t reserved = 0, flags = 2, more[2] = {0, 0};
    const char* source = ";unknown;unknown;0;0;;";
  } location;
  if (up ? from >= to : from <= to) return false;
  const std::int32_t thread = behind("__kmpc_global_thread_num", thread_number)(&location);
  behind(name, init)(&location, thread, set.call, from, up ? to - 1 : to + 1, step, static_cast<Stride>(set.grain));
  return true;
}
bool start_as_set(const RunSchedule& set, long from, long to, long step) {
  static void (*init)(void*, std::int32_t, std::int32_t, long, long, long, long) = nullptr;
  return start_as_set("__kmpc_dispatch_init_8", init, set, step > 0, from, to, step);
}
bool start_as_set(const RunSchedule& set, bool up, Unsigned from, Unsigned to, Unsigned step) {
  static void (*init)(void*, std::int32_t, std::int32_t, Unsigned, Unsigned, long, long) = nullptr;
  return start_as_set("__kmpc_dispatch_init_8u", init, set, up, from, to, static_cast<long>(step));
}

std::uint64_t grain_of(long chunk) { return chunk > 0 ? static_cast<std::uint64_t>(chunk) : 1; }

template <class Value>
bool next(Place& here, Value* from, Value* to) {
  session::Part part;
  if (!session::next_part(here, part)) return false;
  *from = static_cast<Value>(here.space.value(part.begin));
  *to = static_cast<Value>(part.end == here.space.count ? here.limit : here.space.value(part.end));
  return true;
}

/// The place of this thread where its loop is ours.
Place* ours() {
  Place* const here = session::place();
  return here != nullptr && here->loop == Place::Loop::ours ? here : nullptr;
}

/// True where the loop was ours, which then has ended.
bool end() {
  Place* const here = session::place();
  if (here == nullptr || here->loop == Place::Loop::runtimes) return false;
  if (here->loop == Place::Loop::ours) session::loop_ended(*here);
  here->loop = Place::Loop::runtimes;
  return true;
}

/// A region that is one loop: each of its threads begins the loop before its part of the body asks for chunks.
struct Combined {
  Body body;
  void* data;
  std::uint64_t site;
  Schedule schedule;
  long from, to, step;
  std::uint64_t grain;
};

void run_combined(void* argument) {
  const Combined& loop = *static_cast<const Combined*>(argument);
  begin(loop.site, loop.schedule, loop.from, loop.to, loop.step, loop.grain);
  loop.body(loop.data);
  end();
}

/// Such a region whose loop is left to the runtime: each of its threads notes that.
struct LeftCombined {
  Body body;
  void* data;
  std::uint64_t site;
  session::Left why;
};

void run_left(void* argument) {
  const LeftCombined& loop = *static_cast<const LeftCombined*>(argument);
  session::loop_left(loop.site, loop.why);
  loop.body(loop.data);
}

/// The runtime divides the loop. `real`: the entry point, `rest`: its arguments behind the number of threads. `why` is
/// noted for the record.
template <class Real, class... Rest>
void leave_combined(Real* real, std::optional<session::Left> why, Body body, void* data, std::uint64_t site,
                    unsigned int threads, Rest... rest) {
  const auto call = [&](Body run, void* with, unsigned int count) { real(run, with, count, rest...); };
  if (!why || !session::takes_loops() || !session::may_nest()) return run_region(site, body, data, threads, true, call);
  LeftCombined loop{body, data, site, *why};
  run_region(site, run_left, &loop, threads, true, call, body);
}

/// Why a loop that could be ours is not.
session::Left why_left() { return session::reason_to_leave().value_or(session::Left::other); }

/// Runs a region that is one loop of ours. False if the loop cannot be.
bool take_combined(Body body, void* data, std::uint64_t site, Schedule schedule, unsigned int threads, long from,
                   long to, long step, std::uint64_t grain, unsigned int flags) {
  static void (*real)(Body, void*, unsigned int, unsigned int) = nullptr;
  if (!session::takes_loops() || step == 0 || !session::may_nest() || session::reason_to_leave()) return false;
  behind("GOMP_parallel", real);
  Combined loop{body, data, site, schedule, from, to, step, grain};
  run_region(
      site, run_combined, &loop, threads, true,
      [&](Body run, void* with, unsigned int count) { real(run, with, count, flags); }, body);
  return true;
}

}  // namespace
}  // namespace steelyard::intercept

using namespace steelyard::intercept;
using steelyard::session::Left;
using steelyard::session::loop_left;
using steelyard::session::place;
using steelyard::session::Schedule;

// With a chunk size: dynamic and guided.
#define STEELYARD_LOOP_START(name, next_name, schedule)                                                       \
  STEELYARD_EXPORT bool name(long from, long to, long step, long chunk, long* first, long* last) {            \
    static bool (*real)(long, long, long, long, long*, long*) = nullptr;                                      \
    if (begin(STEELYARD_SITE, schedule, from, to, step, grain_of(chunk))) return next(*place(), first, last); \
    return behind(#name, real)(from, to, step, chunk, first, last);                                           \
  }                                                                                                           \
  STEELYARD_LOOP_NEXT(next_name, long)
#define STEELYARD_LOOP_ULL_START(name, next_name, schedule)                                                       \
  STEELYARD_EXPORT bool name(bool up, Unsigned from, Unsigned to, Unsigned step, Unsigned chunk, Unsigned* first, \
                             Unsigned* last) {                                                                    \
    static bool (*real)(bool, Unsigned, Unsigned, Unsigned, Unsigned, Unsigned*, Unsigned*) = nullptr;            \
    if (begin(STEELYARD_SITE, schedule, up, from, to, step, chunk)) return next(*place(), first, last);           \
    return behind(#name, real)(up, from, to, step, chunk, first, last);                                           \
  }                                                                                                               \
  STEELYARD_LOOP_NEXT(next_name, Unsigned)
// Without a chunk size: runtime.
#define STEELYARD_LOOP_RUNTIME_START(name, next_name)                                                          \
  STEELYARD_EXPORT bool name(long from, long to, long step, long* first, long* last) {                         \
    static bool (*real)(long, long, long, long*, long*) = nullptr;                                             \
    static bool (*real_next)(long*, long*) = nullptr;                                                          \
    RunSchedule set;                                                                                           \
    if (begin_runtime(set, STEELYARD_SITE, from, to, step)) return next(*place(), first, last);                \
    if (set.call != 0) return start_as_set(set, from, to, step) && behind(#next_name, real_next)(first, last); \
    return behind(#name, real)(from, to, step, first, last);                                                   \
  }                                                                                                            \
  STEELYARD_LOOP_NEXT(next_name, long)
#define STEELYARD_LOOP_ULL_RUNTIME_START(name, next_name)                                                           \
  STEELYARD_EXPORT bool name(bool up, Unsigned from, Unsigned to, Unsigned step, Unsigned* first, Unsigned* last) { \
    static bool (*real)(bool, Unsigned, Unsigned, Unsigned, Unsigned*, Unsigned*) = nullptr;                        \
    static bool (*real_next)(Unsigned*, Unsigned*) = nullptr;                                                       \
    RunSchedule set;                                                                                                \
    if (begin_runtime(set, STEELYARD_SITE, up, from, to, step)) return next(*place(), first, last);                 \
    if (set.call != 0) return start_as_set(set, up, from, to, step) && behind(#next_name, real_next)(first, last);  \
    return behind(#name, real)(up, from, to, step, first, last);                                                    \
  }                                                                                                                 \
  STEELYARD_LOOP_NEXT(next_name, Unsigned)
#define STEELYARD_LOOP_NEXT(name, Value)                  \
  STEELYARD_EXPORT bool name(Value* first, Value* last) { \
    static bool (*real)(Value*, Value*) = nullptr;        \
    if (Place* const here = ours()) [[likely]]            \
      return next(*here, first, last);                    \
    return behind(#name, real)(first, last);              \
  }

STEELYARD_LOOP_START(GOMP_loop_nonmonotonic_dynamic_start, GOMP_loop_nonmonotonic_dynamic_next, Schedule::dynamic)
STEELYARD_LOOP_START(GOMP_loop_nonmonotonic_guided_start, GOMP_loop_nonmonotonic_guided_next, Schedule::guided)
STEELYARD_LOOP_RUNTIME_START(GOMP_loop_nonmonotonic_runtime_start, GOMP_loop_nonmonotonic_runtime_next)
STEELYARD_LOOP_RUNTIME_START(GOMP_loop_maybe_nonmonotonic_runtime_start, GOMP_loop_maybe_nonmonotonic_runtime_next)
STEELYARD_LOOP_ULL_START(GOMP_loop_ull_nonmonotonic_dynamic_start, GOMP_loop_ull_nonmonotonic_dynamic_next,
                         Schedule::dynamic)
STEELYARD_LOOP_ULL_START(GOMP_loop_ull_nonmonotonic_guided_start, GOMP_loop_ull_nonmonotonic_guided_next,
                         Schedule::guided)
STEELYARD_LOOP_ULL_RUNTIME_START(GOMP_loop_ull_nonmonotonic_runtime_start, GOMP_loop_ull_nonmonotonic_runtime_next)
STEELYARD_LOOP_ULL_RUNTIME_START(GOMP_loop_ull_maybe_nonmonotonic_runtime_start,
                                 GOMP_loop_ull_maybe_nonmonotonic_runtime_next)

// Chunks in ascending order in each thread, by the program's own wish or by that of OpenMP before 5.0, and iterations
// that wait for each other: the runtime's. They are noted, so that the record can say why.
#define STEELYARD_LOOP_LEFT(name, why)                                                             \
  STEELYARD_EXPORT bool name(long from, long to, long step, long chunk, long* first, long* last) { \
    static bool (*real)(long, long, long, long, long*, long*) = nullptr;                           \
    loop_left(STEELYARD_SITE, why);                                                                \
    return behind(#name, real)(from, to, step, chunk, first, last);                                \
  }
#define STEELYARD_LOOP_RUNTIME_LEFT(name, why)                                         \
  STEELYARD_EXPORT bool name(long from, long to, long step, long* first, long* last) { \
    static bool (*real)(long, long, long, long*, long*) = nullptr;                     \
    loop_left(STEELYARD_SITE, why);                                                    \
    return behind(#name, real)(from, to, step, first, last);                           \
  }
#define STEELYARD_LOOP_ULL_LEFT(name, why)                                                                        \
  STEELYARD_EXPORT bool name(bool up, Unsigned from, Unsigned to, Unsigned step, Unsigned chunk, Unsigned* first, \
                             Unsigned* last) {                                                                    \
    static bool (*real)(bool, Unsigned, Unsigned, Unsigned, Unsigned, Unsigned*, Unsigned*) = nullptr;            \
    loop_left(STEELYARD_SITE, why);                                                                               \
    return behind(#name, real)(up, from, to, step, chunk, first, last);                                           \
  }
#define STEELYARD_LOOP_ULL_RUNTIME_LEFT(name, why)                                                                  \
  STEELYARD_EXPORT bool name(bool up, Unsigned from, Unsigned to, Unsigned step, Unsigned* first, Unsigned* last) { \
    static bool (*real)(bool, Unsigned, Unsigned, Unsigned, Unsigned*, Unsigned*) = nullptr;                        \
    loop_left(STEELYARD_SITE, why);                                                                                 \
    return behind(#name, real)(up, from, to, step, first, last);                                                    \
  }
// The iterations of several dimensions, of which the runtime makes its own.
#define STEELYARD_DOACROSS_LEFT(name, Value)                                                                   \
  STEELYARD_EXPORT bool name(unsigned int dimensions, Value* counts, Value chunk, Value* first, Value* last) { \
    static bool (*real)(unsigned int, Value*, Value, Value*, Value*) = nullptr;                                \
    loop_left(STEELYARD_SITE, Left::ordered);                                                                  \
    return behind(#name, real)(dimensions, counts, chunk, first, last);                                        \
  }
#define STEELYARD_DOACROSS_RUNTIME_LEFT(name, Value)                                              \
  STEELYARD_EXPORT bool name(unsigned int dimensions, Value* counts, Value* first, Value* last) { \
    static bool (*real)(unsigned int, Value*, Value*, Value*) = nullptr;                          \
    loop_left(STEELYARD_SITE, Left::ordered);                                                     \
    return behind(#name, real)(dimensions, counts, first, last);                                  \
  }
STEELYARD_LOOP_LEFT(GOMP_loop_dynamic_start, Left::monotonic)
STEELYARD_LOOP_LEFT(GOMP_loop_guided_start, Left::monotonic)
STEELYARD_LOOP_RUNTIME_LEFT(GOMP_loop_runtime_start, Left::monotonic)
STEELYARD_LOOP_ULL_LEFT(GOMP_loop_ull_dynamic_start, Left::monotonic)
STEELYARD_LOOP_ULL_LEFT(GOMP_loop_ull_guided_start, Left::monotonic)
STEELYARD_LOOP_ULL_RUNTIME_LEFT(GOMP_loop_ull_runtime_start, Left::monotonic)
STEELYARD_LOOP_LEFT(GOMP_loop_ordered_static_start, Left::ordered)
STEELYARD_LOOP_LEFT(GOMP_loop_ordered_dynamic_start, Left::ordered)
STEELYARD_LOOP_LEFT(GOMP_loop_ordered_guided_start, Left::ordered)
STEELYARD_LOOP_RUNTIME_LEFT(GOMP_loop_ordered_runtime_start, Left::ordered)
STEELYARD_LOOP_ULL_LEFT(GOMP_loop_ull_ordered_static_start, Left::ordered)
STEELYARD_LOOP_ULL_LEFT(GOMP_loop_ull_ordered_dynamic_start, Left::ordered)
STEELYARD_LOOP_ULL_LEFT(GOMP_loop_ull_ordered_guided_start, Left::ordered)
STEELYARD_LOOP_ULL_RUNTIME_LEFT(GOMP_loop_ull_ordered_runtime_start, Left::ordered)
STEELYARD_DOACROSS_LEFT(GOMP_loop_doacross_static_start, long)
STEELYARD_DOACROSS_LEFT(GOMP_loop_doacross_dynamic_start, long)
STEELYARD_DOACROSS_LEFT(GOMP_loop_doacross_guided_start, long)
STEELYARD_DOACROSS_RUNTIME_LEFT(GOMP_loop_doacross_runtime_start, long)
STEELYARD_DOACROSS_LEFT(GOMP_loop_ull_doacross_static_start, Unsigned)
STEELYARD_DOACROSS_LEFT(GOMP_loop_ull_doacross_dynamic_start, Unsigned)
STEELYARD_DOACROSS_LEFT(GOMP_loop_ull_doacross_guided_start, Unsigned)
STEELYARD_DOACROSS_RUNTIME_LEFT(GOMP_loop_ull_doacross_runtime_start, Unsigned)

// The ends. Of a loop of ours, the runtime knows nothing: what is left of the end is its barrier.
STEELYARD_EXPORT void GOMP_loop_end() {
  static void (*real)() = nullptr;
  static void (*barrier)() = nullptr;
  const bool ours = end();
  const gomp::Wait wait;
  ours ? behind("GOMP_barrier", barrier)() : behind("GOMP_loop_end", real)();
}
STEELYARD_EXPORT bool GOMP_loop_end_cancel() {
  static bool (*real)() = nullptr;
  static bool (*barrier)() = nullptr;
  const bool ours = end();
  const gomp::Wait wait;
  return ours ? behind("GOMP_barrier_cancel", barrier)() : behind("GOMP_loop_end_cancel", real)();
}
STEELYARD_EXPORT void GOMP_loop_end_nowait() {
  static void (*real)() = nullptr;
  if (end()) return;
  behind("GOMP_loop_end_nowait", real)();
}

#define STEELYARD_PARALLEL_LOOP(name, schedule, why)                                                               \
  STEELYARD_EXPORT void name(Body body, void* data, unsigned int count, long from, long to, long step, long chunk, \
                             unsigned int flags) {                                                                 \
    static void (*real)(Body, void*, unsigned int, long, long, long, long, unsigned int) = nullptr;                \
    behind(#name, real);                                                                                           \
    const std::uint64_t site = STEELYARD_SITE;                                                                     \
    constexpr std::optional<Schedule> ours = schedule;                                                             \
    if (!ours || !take_combined(body, data, site, *ours, count, from, to, step, grain_of(chunk), flags))           \
      leave_combined(real, why, body, data, site, count, from, to, step, chunk, flags);                            \
  }
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_static, std::nullopt, std::nullopt)
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_dynamic, std::nullopt, Left::monotonic)
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_guided, std::nullopt, Left::monotonic)
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, Schedule::dynamic, why_left())
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, Schedule::guided, why_left())

// With schedule(runtime) there is no chunk.
#define STEELYARD_PARALLEL_RUNTIME_LOOP(name, meaning)                                                        \
  STEELYARD_EXPORT void name(Body body, void* data, unsigned int count, long from, long to, long step,        \
                             unsigned int flags) {                                                            \
    static void (*real)(Body, void*, unsigned int, long, long, long, unsigned int) = nullptr;                 \
    behind(#name, real);                                                                                      \
    const std::uint64_t site = STEELYARD_SITE;                                                                \
    const RunSchedule set = meaning;                                                                          \
    if (set.left || !take_combined(body, data, site, set.schedule, count, from, to, step, set.grain, flags))  \
      leave_combined(real, set.left ? set.left : why_left(), body, data, site, count, from, to, step, flags); \
  }
STEELYARD_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_runtime, {Left::monotonic})
STEELYARD_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime, run_schedule())
STEELYARD_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime, run_schedule())

// Loops that gcc and gfortran have compiled: the same for GNU's entry points, which LLVM's runtime has, too.
#include <cstdint>
#include <optional>

#include "intercept/clause.h"
#include "runtime/worksharing.h"

namespace steelyard::intercept {
namespace {

using Unsigned = unsigned long long;
using Body = void (*)(void*);
using runtime::Place;

/// True where the loop is ours.
bool begin(std::uint64_t site, long from, long to, long step, std::uint64_t grain) {
  if (!runtime::takes_loops() || !runtime::loop_begun(site, loops::half_open<std::int64_t>(from, to, step), grain))
    return false;
  runtime::place()->limit = static_cast<std::uint64_t>(to);
  return true;
}

/// Where it goes down the step is negative, in two's complement.
bool begin(std::uint64_t site, bool up, Unsigned from, Unsigned to, Unsigned step, std::uint64_t grain) {
  if (!runtime::takes_loops()) return false;
  const auto stride = static_cast<std::int64_t>(step);
  const auto space = up == (stride > 0) ? loops::half_open<std::uint64_t>(from, to, stride) : std::nullopt;
  if (!runtime::loop_begun(site, space, grain)) return false;
  runtime::place()->limit = to;
  return true;
}

std::uint64_t grain_of(long chunk) { return chunk > 0 ? static_cast<std::uint64_t>(chunk) : 1; }

template <class Value>
bool next(Place& here, Value* from, Value* to) {
  runtime::Part part;
  if (!runtime::next_part(here, part)) return false;
  *from = static_cast<Value>(here.space.value(part.begin));
  *to = static_cast<Value>(part.end == here.space.count ? here.limit : here.space.value(part.end));
  return true;
}

/// The place of this thread where its loop is ours.
Place* ours() {
  Place* const here = runtime::place();
  return here != nullptr && here->loop == Place::Loop::ours ? here : nullptr;
}

/// True where the loop was ours, which then has ended.
bool end() {
  Place* const here = runtime::place();
  if (here == nullptr || here->loop == Place::Loop::runtimes) return false;
  if (here->loop == Place::Loop::ours) runtime::loop_ended(*here);
  here->loop = Place::Loop::runtimes;
  return true;
}

/// A region that is one loop: each of its threads begins the loop before its part of the body asks for chunks.
struct Combined {
  Body body;
  void* data;
  std::uint64_t site;
  long from, to, step;
  std::uint64_t grain;
};

void run_combined(void* argument) {
  const Combined& loop = *static_cast<const Combined*>(argument);
  begin(loop.site, loop.from, loop.to, loop.step, loop.grain);
  loop.body(loop.data);
  end();
}

/// False where the runtime is to do it. Keeps no address of its callers' variables: they end in tail calls.
[[gnu::noinline]] bool take_combined(Body body, void* data, std::uint64_t site, unsigned int threads, long from,
                                     long to, long step, long chunk, unsigned int flags) {
  static void (*real)(Body, void*, unsigned int, unsigned int) = nullptr;
  if (!runtime::takes_loops() || step == 0 || !runtime::may_nest()) return false;
  Combined loop{body, data, site, from, to, step, grain_of(chunk)};
  set_region_site(site);
  behind("GOMP_parallel", real)(run_combined, &loop, clause(threads), flags);
  return true;
}

}  // namespace
}  // namespace steelyard::intercept

using namespace steelyard::intercept;
using steelyard::runtime::Left;
using steelyard::runtime::loop_left;
using steelyard::runtime::place;

// With a chunk size: dynamic and guided.
#define STEELYARD_LOOP_START(name, next_name)                                                       \
  STEELYARD_EXPORT bool name(long from, long to, long step, long chunk, long* first, long* last) {  \
    static bool (*real)(long, long, long, long, long*, long*) = nullptr;                            \
    if (begin(STEELYARD_SITE, from, to, step, grain_of(chunk))) return next(*place(), first, last); \
    return behind(#name, real)(from, to, step, chunk, first, last);                                 \
  }                                                                                                 \
  STEELYARD_LOOP_NEXT(next_name, long)
#define STEELYARD_LOOP_ULL_START(name, next_name)                                                                 \
  STEELYARD_EXPORT bool name(bool up, Unsigned from, Unsigned to, Unsigned step, Unsigned chunk, Unsigned* first, \
                             Unsigned* last) {                                                                    \
    static bool (*real)(bool, Unsigned, Unsigned, Unsigned, Unsigned, Unsigned*, Unsigned*) = nullptr;            \
    if (begin(STEELYARD_SITE, up, from, to, step, chunk)) return next(*place(), first, last);                     \
    return behind(#name, real)(up, from, to, step, chunk, first, last);                                           \
  }                                                                                                               \
  STEELYARD_LOOP_NEXT(next_name, Unsigned)
// Without: runtime.
#define STEELYARD_LOOP_RUNTIME_START(name, next_name)                                  \
  STEELYARD_EXPORT bool name(long from, long to, long step, long* first, long* last) { \
    static bool (*real)(long, long, long, long*, long*) = nullptr;                     \
    if (begin(STEELYARD_SITE, from, to, step, 1)) return next(*place(), first, last);  \
    return behind(#name, real)(from, to, step, first, last);                           \
  }                                                                                    \
  STEELYARD_LOOP_NEXT(next_name, long)
#define STEELYARD_LOOP_ULL_RUNTIME_START(name, next_name)                                                           \
  STEELYARD_EXPORT bool name(bool up, Unsigned from, Unsigned to, Unsigned step, Unsigned* first, Unsigned* last) { \
    static bool (*real)(bool, Unsigned, Unsigned, Unsigned, Unsigned*, Unsigned*) = nullptr;                        \
    if (begin(STEELYARD_SITE, up, from, to, step, 1)) return next(*place(), first, last);                           \
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

STEELYARD_LOOP_START(GOMP_loop_nonmonotonic_dynamic_start, GOMP_loop_nonmonotonic_dynamic_next)
STEELYARD_LOOP_START(GOMP_loop_nonmonotonic_guided_start, GOMP_loop_nonmonotonic_guided_next)
STEELYARD_LOOP_RUNTIME_START(GOMP_loop_nonmonotonic_runtime_start, GOMP_loop_nonmonotonic_runtime_next)
STEELYARD_LOOP_RUNTIME_START(GOMP_loop_maybe_nonmonotonic_runtime_start, GOMP_loop_maybe_nonmonotonic_runtime_next)
STEELYARD_LOOP_ULL_START(GOMP_loop_ull_nonmonotonic_dynamic_start, GOMP_loop_ull_nonmonotonic_dynamic_next)
STEELYARD_LOOP_ULL_START(GOMP_loop_ull_nonmonotonic_guided_start, GOMP_loop_ull_nonmonotonic_guided_next)
STEELYARD_LOOP_ULL_RUNTIME_START(GOMP_loop_ull_nonmonotonic_runtime_start, GOMP_loop_ull_nonmonotonic_runtime_next)
STEELYARD_LOOP_ULL_RUNTIME_START(GOMP_loop_ull_maybe_nonmonotonic_runtime_start,
                                 GOMP_loop_ull_maybe_nonmonotonic_runtime_next)

// Chunks in ascending order in each thread, by the program's own wish or by that of OpenMP before 5.0: the runtime's. They are
// noted, so that the record can say why.
#define STEELYARD_LOOP_LEFT(name)                                                                  \
  STEELYARD_EXPORT bool name(long from, long to, long step, long chunk, long* first, long* last) { \
    static bool (*real)(long, long, long, long, long*, long*) = nullptr;                           \
    loop_left(STEELYARD_SITE, Left::monotonic);                                                    \
    return behind(#name, real)(from, to, step, chunk, first, last);                                \
  }
#define STEELYARD_LOOP_RUNTIME_LEFT(name)                                              \
  STEELYARD_EXPORT bool name(long from, long to, long step, long* first, long* last) { \
    static bool (*real)(long, long, long, long*, long*) = nullptr;                     \
    loop_left(STEELYARD_SITE, Left::monotonic);                                        \
    return behind(#name, real)(from, to, step, first, last);                           \
  }
STEELYARD_LOOP_LEFT(GOMP_loop_dynamic_start)
STEELYARD_LOOP_LEFT(GOMP_loop_guided_start)
STEELYARD_LOOP_RUNTIME_LEFT(GOMP_loop_runtime_start)

// The ends. LLVM's runtime keeps nothing of a loop for them: the first two are its barriers, and the last is nothing.
STEELYARD_EXPORT void GOMP_loop_end() {
  static void (*real)() = nullptr;
  end();
  behind("GOMP_loop_end", real)();
}
STEELYARD_EXPORT bool GOMP_loop_end_cancel() {
  static bool (*real)() = nullptr;
  end();
  return behind("GOMP_loop_end_cancel", real)();
}
STEELYARD_EXPORT void GOMP_loop_end_nowait() {
  static void (*real)() = nullptr;
  if (end()) return;
  behind("GOMP_loop_end_nowait", real)();
}

STEELYARD_EXPORT bool GOMP_cancel(int what, bool really) {
  static bool (*real)(int, bool) = nullptr;
  constexpr int kRegion = 1;
  if ((what & kRegion) != 0 && really) steelyard::runtime::region_cancelled();
  return behind("GOMP_cancel", real)(what, really);
}

// Where the runtime does it, a region is known by the address that these return to: that must be a tail call.
#define STEELYARD_PARALLEL_LOOP(name, taken)                                                                       \
  STEELYARD_EXPORT void name(Body body, void* data, unsigned int count, long from, long to, long step, long chunk, \
                             unsigned int flags) {                                                                 \
    static void (*real)(Body, void*, unsigned int, long, long, long, long, unsigned int) = nullptr;                \
    if (taken && take_combined(body, data, STEELYARD_SITE, count, from, to, step, chunk, flags)) return;           \
    behind(#name, real)(body, data, clause(count), from, to, step, chunk, flags);                                  \
  }
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_static, false)
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_dynamic, false)
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_guided, false)
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, true)
STEELYARD_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, true)

// With schedule(runtime) there is no chunk.
#define STEELYARD_PARALLEL_RUNTIME_LOOP(name, taken)                                                   \
  STEELYARD_EXPORT void name(Body body, void* data, unsigned int count, long from, long to, long step, \
                             unsigned int flags) {                                                     \
    static void (*real)(Body, void*, unsigned int, long, long, long, unsigned int) = nullptr;          \
    if (taken && take_combined(body, data, STEELYARD_SITE, count, from, to, step, 1, flags)) return;   \
    behind(#name, real)(body, data, clause(count), from, to, step, flags);                             \
  }
STEELYARD_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_runtime, false)
STEELYARD_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime, true)
STEELYARD_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime, true)

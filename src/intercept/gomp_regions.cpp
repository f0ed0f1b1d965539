// SPDX-License-Identifier: BSD-3-Clause
// Parallel regions of GNU's OpenMP runtime, at the entry points of gcc 4.2 to today.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/loaded_library.h"
#include "base/options.h"
#include "intercept/first_region.h"
#include "intercept/gomp.h"
#include "session/openmp.h"

namespace steelyard::intercept::gomp {
namespace {

int thread_number() {
  static int (*real)() = nullptr;
  return behind("omp_get_thread_num", real)();
}

int team_size() {
  static int (*real)() = nullptr;
  return behind("omp_get_num_threads", real)();
}

int max_threads() {
  static int (*real)() = nullptr;
  return behind("omp_get_max_threads", real)();
}

int active_level() {
  static int (*real)() = nullptr;
  return behind("omp_get_active_level", real)();
}

int max_active_levels() {
  static int (*real)() = nullptr;
  return behind("omp_get_max_active_levels", real)();
}

/// Without a device, the body of a `nowait` target runs as an explicit task. With one, it must stay as it is: the
/// runtime finds the device's function by the address of the host's.
Body target_body(Body body, unsigned int flags) {
  constexpr unsigned int kNowait = 1;  // Encoding: GOMP_TARGET_FLAG_NOWAIT
  static int (*devices)() = nullptr;
  return (flags & kNowait) != 0 && behind("omp_get_num_devices", devices)() == 0 ? bracketed(body) : body;
}

/// Some systems install LLVM's runtime under the name of GNU's, so the name says nothing.
bool has_entry_points_of_clang(const void* address) {
  void* const library = base::library_of(address);
  return library != nullptr && dlsym(library, "__kmpc_fork_call") != nullptr;
}

/// Of the present measured region, of which there is one at a time.
loops::VirtualTeam g_virtual_team;

enum class Runtime { unknown, gnu, llvm };
std::atomic<Runtime> g_runtime = Runtime::unknown;

}  // namespace

bool is_gnu() {
  const Runtime known = g_runtime.load(std::memory_order_relaxed);
  if (known != Runtime::unknown) [[likely]]
    return known == Runtime::gnu;
  attach();
  return g_runtime.load(std::memory_order_relaxed) == Runtime::gnu;
}

void attach() {
  if (g_runtime.load(std::memory_order_relaxed) != Runtime::unknown) return;
  void* const parallel = base::next_or_opened("GOMP_parallel");
  if (parallel == nullptr) return;
  const Runtime found = has_entry_points_of_clang(parallel) ? Runtime::llvm : Runtime::gnu;
  Runtime unknown = Runtime::unknown;
  if (!g_runtime.compare_exchange_strong(unknown, found) || found != Runtime::gnu) return;
  // The runtime has read the variable as it was loaded; the program's children must not see it.
  if (base::options().gomp_spincount_set) unsetenv("GOMP_SPINCOUNT");
  session::take_loops();
  session::attach_gnu_openmp(max_threads);
}

bool inactive_region_begin(std::uint64_t site, Body code, unsigned int count, bool runs_body) {
  const int requested = count > 0 ? static_cast<int>(count) : max_threads();
  return session::inactive_region_begin({site, requested, count > 0, session::RegionRequest::Threads::by_argument,
                                         reinterpret_cast<void*>(code), runs_body, false});
}

Region::Region(std::uint64_t site, Body body, void* data, unsigned int count, bool runs_body, bool shares,
               void* first_word, Body code)
    : first_word_(first_word), body_(body), data_(data), count_(count) {
  first_region_begins();
  const bool by_clause = count > 0 && !session::is_redundant_clause(static_cast<int>(count));
  const int requested = by_clause ? static_cast<int>(count) : max_threads();
  const session::RegionTerms terms =
      session::region_begin({site, requested, by_clause, session::RegionRequest::Threads::by_argument,
                             reinterpret_cast<void*>(code != nullptr ? code : body), runs_body, shares});
  cells_ = terms.cells;
  measured_ = terms.measured;
  if (!by_clause && terms.threads > 0) count_ = static_cast<unsigned int>(terms.threads);
  // To the runtime, a region of one thread is not active. A region inside of it would get a team, unlike with the
  // program's own count.
  if (session::in_region_reduced_to_one() && active_level() + 1 >= max_active_levels()) count_ = 1;
  if (terms.virtual_threads > 0) {
    virtual_team_ = &g_virtual_team;
    g_virtual_team.begin(terms.virtual_threads, count_ > 0 ? static_cast<int>(count_) : requested);
  }
  region_ = session::region_made(terms);
}

Region::~Region() {
  session::left(0);
  if (measured_ != session::Measured::nothing) session::region_end();
  session::region_gone(region_);
}

int Region::begin_part() {
  const int thread = thread_number(), threads = team_size();
  if (measured_ != session::Measured::nothing) session::thread_begin(cells_, thread, threads);
  session::entered(region_, thread, threads);
  return thread;
}

// At the barrier at the region's end, the thread that has begun the region executes tasks of the region still.
void Region::end_part(int thread) {
  if (thread != 0) session::left(thread);
  if (cells_.first != nullptr) session::thread_done();
}

void Region::run(void* region) {
  Region& mine = *static_cast<Region*>(region);
  const int thread = mine.begin_part();
  if (mine.virtual_team_ == nullptr)
    mine.body_(mine.data_);
  else
    mine.run_virtual_threads(thread);
  mine.end_part(thread);
}

void Region::run_virtual_threads(int thread) {
  while (const std::optional<int> number = virtual_team_->next(thread)) {
    session::t_virtual = {*number, virtual_team_->size(), session::t_places.depth};
    body_(data_);
  }
  session::t_virtual = {};
}

namespace {

/// Regions that the calling thread has begun by GOMP_parallel_start() or a relative, and not ended.
std::vector<std::unique_ptr<Region>>& open_regions() {
  static thread_local std::vector<std::unique_ptr<Region>> regions;
  return regions;
}

/// As compilers before gcc 4.9 begin a region: the program itself runs the part of the calling thread, then ends the
/// region.
template <class Call>
void start_region(std::uint64_t site, Body body, void* data, unsigned int count, bool shares, const Call& call) {
  if (!is_gnu()) {
    set_region_source({site, reinterpret_cast<const void*>(body), shares});
    call(body, data, note_clause(count));
    return;
  }
  Region& region = *open_regions().emplace_back(std::make_unique<Region>(site, body, data, count, false, shares));
  call(Region::run, static_cast<void*>(&region), region.count());
  region.begin_part();
}

}  // namespace
}  // namespace steelyard::intercept::gomp

using namespace steelyard::intercept;
using namespace steelyard::intercept::gomp;

STEELYARD_EXPORT void GOMP_parallel(Body body, void* data, unsigned int count, unsigned int flags) {
  static void (*real)(Body, void*, unsigned int, unsigned int) = nullptr;
  behind("GOMP_parallel", real);
  run_region(STEELYARD_SITE, body, data, count, false,
             [&](Body run, void* with, unsigned int threads) { real(run, with, threads, flags); });
}

STEELYARD_EXPORT unsigned int GOMP_parallel_reductions(Body body, void* data, unsigned int count, unsigned int flags) {
  static unsigned int (*real)(Body, void*, unsigned int, unsigned int) = nullptr;
  behind("GOMP_parallel_reductions", real);
  if (!is_gnu()) {
    set_region_source({STEELYARD_SITE, reinterpret_cast<const void*>(body)});
    return real(body, data, note_clause(count), flags);
  }
  Region region(STEELYARD_SITE, body, data, count, true, false, *static_cast<void**>(data));
  return real(Region::run, &region, region.count(), flags);
}

STEELYARD_EXPORT void GOMP_parallel_sections(Body body, void* data, unsigned int count, unsigned int sections,
                                             unsigned int flags) {
  static void (*real)(Body, void*, unsigned int, unsigned int, unsigned int) = nullptr;
  behind("GOMP_parallel_sections", real);
  run_region(STEELYARD_SITE, body, data, count, true,
             [&](Body run, void* with, unsigned int threads) { real(run, with, threads, sections, flags); });
}

STEELYARD_EXPORT void GOMP_parallel_start(Body body, void* data, unsigned int count) {
  static void (*real)(Body, void*, unsigned int) = nullptr;
  behind("GOMP_parallel_start", real);
  start_region(STEELYARD_SITE, body, data, count, false,
               [&](Body run, void* with, unsigned int threads) { real(run, with, threads); });
}

STEELYARD_EXPORT void GOMP_parallel_sections_start(Body body, void* data, unsigned int count, unsigned int sections) {
  static void (*real)(Body, void*, unsigned int, unsigned int) = nullptr;
  behind("GOMP_parallel_sections_start", real);
  start_region(STEELYARD_SITE, body, data, count, true,
               [&](Body run, void* with, unsigned int threads) { real(run, with, threads, sections); });
}

#define STEELYARD_PARALLEL_LOOP_START(name)                                                                          \
  STEELYARD_EXPORT void name(Body body, void* data, unsigned int count, long from, long to, long step, long chunk) { \
    static void (*real)(Body, void*, unsigned int, long, long, long, long) = nullptr;                                \
    behind(#name, real);                                                                                             \
    start_region(STEELYARD_SITE, body, data, count, true, [&](Body run, void* with, unsigned int threads) {          \
      real(run, with, threads, from, to, step, chunk);                                                               \
    });                                                                                                              \
  }
STEELYARD_PARALLEL_LOOP_START(GOMP_parallel_loop_static_start)
STEELYARD_PARALLEL_LOOP_START(GOMP_parallel_loop_dynamic_start)
STEELYARD_PARALLEL_LOOP_START(GOMP_parallel_loop_guided_start)

STEELYARD_EXPORT void GOMP_parallel_loop_runtime_start(Body body, void* data, unsigned int count, long from, long to,
                                                       long step) {
  static void (*real)(Body, void*, unsigned int, long, long, long) = nullptr;
  behind("GOMP_parallel_loop_runtime_start", real);
  start_region(STEELYARD_SITE, body, data, count, true,
               [&](Body run, void* with, unsigned int threads) { real(run, with, threads, from, to, step); });
}

STEELYARD_EXPORT void GOMP_parallel_end() {
  static void (*real)() = nullptr;
  behind("GOMP_parallel_end", real);
  auto& open = open_regions();
  if (open.empty()) return real();
  open.back()->end_part(0);  // the thread that began the region
  real();
  open.pop_back();
}

// Without a device, the thread itself runs the body, in no team: the loops in it are not those of the region around it.
STEELYARD_EXPORT void GOMP_target_ext(int device, Body body, std::size_t count, void** addresses, std::size_t* sizes,
                                      unsigned short* kinds, unsigned int flags, void** depend, void** arguments) {
  static void (*real)(int, Body, std::size_t, void**, std::size_t*, unsigned short*, unsigned int, void**, void**) =
      nullptr;
  behind("GOMP_target_ext", real);
  steelyard::session::entered(nullptr, 0, 1);
  real(device, target_body(body, flags), count, addresses, sizes, kinds, flags, depend, arguments);
  steelyard::session::left(0);
}

STEELYARD_EXPORT void GOMP_target(int device, Body body, const void* unused, std::size_t count, void** addresses,
                                  std::size_t* sizes, unsigned char* kinds) {
  static void (*real)(int, Body, const void*, std::size_t, void**, std::size_t*, unsigned char*) = nullptr;
  behind("GOMP_target", real);
  steelyard::session::entered(nullptr, 0, 1);
  real(device, body, unused, count, addresses, sizes, kinds);
  steelyard::session::left(0);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/run_schedule.h"

#include <array>
#include <atomic>

#include "base/options.h"
#include "intercept/gomp.h"

namespace steelyard::intercept {
namespace {

// Format: omp_sched_t
constexpr std::uint32_t kStatic = 1, kDynamic = 2, kGuided = 3, kAuto = 4, kMonotonic = 0x80000000U;

/// The program itself has said monotonic:static.
std::atomic<bool> g_says_monotonic = false;

/// The program sets schedules inside of regions. LLVM's runtime gives the loops of a region what was set before it.
std::atomic<bool> g_set_inside = false;

bool is_plain_static(std::uint32_t kind, std::int32_t chunk) { return (kind & ~kMonotonic) == kStatic && chunk < 1; }

void real_get(std::uint32_t& kind, std::int32_t& chunk) {
  static void (*real)(std::uint32_t*, std::int32_t*) = nullptr;
  behind("omp_get_schedule", real)(&kind, &chunk);
}

void real_set(std::uint32_t kind, std::int32_t chunk) {
  static void (*real)(std::uint32_t, std::int32_t) = nullptr;
  behind("omp_set_schedule", real)(kind, chunk);
}

// Where a program asks for static parts, OpenMP promises it the same ones in each loop of a region. The default of
// LLVM's runtime, which no program has asked for, looks the same: so what was asked for gets a mark that changes
// nothing for the runtime. It is where the schedule itself is, which each task has of its own. The default of GNU's
// runtime is dynamic.
void set_schedule(std::uint32_t kind, std::int32_t chunk) {
  if (gomp::is_gnu()) return real_set(kind, chunk);
  std::uint32_t before = 0;
  std::int32_t chunk_before = 0;
  real_get(before, chunk_before);  // the runtime is awake from here on: it is known whether loops are taken over
  if (is_plain_static(kind, chunk) && session::takes_loops() && !base::options().schedule_set) {
    if ((kind & kMonotonic) != 0) g_says_monotonic.store(true, std::memory_order_relaxed);
    kind |= kMonotonic;
  }
  if (const session::Place* const here = session::place(); here != nullptr && here->region != nullptr)
    g_set_inside.store(true, std::memory_order_relaxed);
  real_set(kind, chunk);
}

/// Without the mark: the program reads what it has set.
void get_schedule(std::uint32_t& kind, std::int32_t& chunk) {
  real_get(kind, chunk);
  const bool marked = is_plain_static(kind, chunk) && session::takes_loops() && !gomp::is_gnu();
  if (marked && !base::options().schedule_set && !g_says_monotonic.load(std::memory_order_relaxed)) kind &= ~kMonotonic;
}

// Format: sched_type of LLVM's runtime, as the compiler would write it in a call.
constexpr std::int32_t kCallMonotonic = 1 << 29;
enum Call : std::int32_t {
  kCallStaticChunks = 33,
  kCallStatic = 34,
  kCallDynamic = 35 | kCallMonotonic,
  kCallGuided = 36 | kCallMonotonic
};

RunSchedule meaning_of(std::uint32_t kind, std::int32_t chunk) {
  const std::uint64_t grain = chunk < 1 ? 1 : static_cast<std::uint64_t>(chunk);
  if ((kind & ~kMonotonic) == kStatic) {
    const bool asked = chunk > 0 || (kind & kMonotonic) != 0 || base::options().schedule_set || gomp::is_gnu();
    if (!asked) return {};
    return {session::Left::asked, grain, chunk > 0 ? kCallStaticChunks : kCallStatic};
  }
  if (kind == (kMonotonic | kDynamic)) return {session::Left::monotonic, grain, kCallDynamic};
  if (kind == (kMonotonic | kGuided)) return {session::Left::monotonic, grain, kCallGuided};
  if ((kind & kMonotonic) != 0) return {session::Left::monotonic};
  if (kind == kGuided) return {{}, grain, 0, session::Schedule::guided};
  return {{}, kind == kAuto ? 1 : grain};
}

constexpr int kGrainBits = 31;  // Encoding: of a packed RunSchedule

// Encoding: which of kCalls, and what is none of them.
constexpr std::uint64_t kOurs = 0, kMonotonicOther = 5, kOursGuided = 6;
constexpr std::array<std::int32_t, 7> kCalls = {0, kCallStaticChunks, kCallStatic, kCallDynamic, kCallGuided, 0, 0};

std::uint64_t pack(const RunSchedule& schedule) {
  std::uint64_t which = schedule.schedule == session::Schedule::guided ? kOursGuided : kOurs;
  if (schedule.left) which = kMonotonicOther;
  for (std::uint64_t i = 1; i < kMonotonicOther; ++i) {
    if (schedule.call == kCalls[i]) which = i;
  }
  return which << kGrainBits | schedule.grain;
}

RunSchedule unpack(std::uint64_t word) {
  const std::uint64_t which = word >> kGrainBits, grain = word & ((std::uint64_t{1} << kGrainBits) - 1);
  if (which == kOurs) return {{}, grain};
  if (which == kOursGuided) return {{}, grain, 0, session::Schedule::guided};
  const std::int32_t call = g_set_inside.load(std::memory_order_relaxed) ? kCalls[which] : 0;
  const bool is_static = kCalls[which] == kCallStaticChunks || kCalls[which] == kCallStatic;
  return {is_static ? session::Left::asked : session::Left::monotonic, grain, call};
}

}  // namespace

RunSchedule run_schedule() {
  std::uint32_t kind = 0;
  std::int32_t chunk = 0;
  real_get(kind, chunk);
  return meaning_of(kind, chunk);
}

RunSchedule run_schedule_of_region() {
  session::Place* const here = session::place();
  if (here == nullptr || here->region == nullptr) return unpack(pack(run_schedule()));  // outside of regions
  return unpack(here->region->run_schedules.at(here->run_schedules++, [] { return pack(run_schedule()); }));
}

}  // namespace steelyard::intercept

using namespace steelyard::intercept;

STEELYARD_EXPORT void omp_set_schedule(std::uint32_t kind, std::int32_t chunk) { set_schedule(kind, chunk); }
STEELYARD_EXPORT void omp_set_schedule_(const std::uint32_t* kind, const std::int32_t* chunk) {
  set_schedule(*kind, *chunk);
}
STEELYARD_EXPORT void omp_get_schedule(std::uint32_t* kind, std::int32_t* chunk) { get_schedule(*kind, *chunk); }
STEELYARD_EXPORT void omp_get_schedule_(std::uint32_t* kind, std::int32_t* chunk) { get_schedule(*kind, *chunk); }

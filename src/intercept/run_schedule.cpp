#include "intercept/run_schedule.h"

#include "intercept/clause.h"

namespace steelyard::intercept {
namespace {

// omp_sched_t
constexpr std::uint32_t kStatic = 1, kAuto = 4, kMonotonic = 0x80000000U;

}  // namespace

RunSchedule run_schedule() {
  static void (*real)(std::uint32_t*, std::int32_t*) = nullptr;
  std::uint32_t kind = 0;
  std::int32_t chunk = 0;
  behind("omp_get_schedule", real)(&kind, &chunk);
  if ((kind & kMonotonic) != 0) return {runtime::Left::monotonic};
  if (chunk < 1 || kind == kAuto) return {};
  // Without a chunk it may be the runtime's own default, which nobody has asked for; with one somebody has.
  if (kind == kStatic) return {runtime::Left::other};
  return {{}, static_cast<std::uint64_t>(chunk)};
}

}  // namespace steelyard::intercept

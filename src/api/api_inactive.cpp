// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include "api/guarded.h"
#include "api/hooks.h"
#include "api/outcome.h"
#include "node/binding.h"
#define STEELYARD_WITHOUT_MPI
#include "steelyard/collectives.h"
#include "steelyard/cores.h"
#include "steelyard/regions.h"
#include "steelyard/steelyard.h"

// libsteelyard: what a program gets that was not started under `steelyard run`.
namespace {

constexpr char not_started[] =
    "not started under `steelyard run`: start the program as `mpirun -n N steelyard run ./app`";

steelyard_status_t none_move(const char* name, int cores, int* count) {
  if (count != nullptr) *count = 0;
  return steelyard::api::guarded(name, false, "", [&]() -> steelyard::base::Status {
    if (cores < 0) return steelyard::api::invalid_argument("{}() was called for {} cores: pass 0 or more", name, cores);
    return {};
  });
}

steelyard_status_t inactive() {
  steelyard::api::set_message(not_started);
  return STEELYARD_INACTIVE;
}

}  // namespace

extern "C" {

steelyard_status_t steelyard_step(void) { return inactive(); }
steelyard_status_t steelyard_get_efficiencies(steelyard_efficiencies_t* efficiencies) {
  if (efficiencies != nullptr) *efficiencies = {};
  return inactive();
}
steelyard_status_t steelyard_pause(void) { return inactive(); }
steelyard_status_t steelyard_resume(void) { return inactive(); }
steelyard_status_t steelyard_region_begin(const char*) { return inactive(); }
steelyard_status_t steelyard_region_end(const char*) { return inactive(); }

void steelyard_internal_phases_begin(int) {}
void steelyard_internal_hold_begins(void) {}
void steelyard_internal_hold_ends(int64_t) {}
void steelyard_internal_phase_left(const steelyard_internal_phase*) {}
void steelyard_internal_pool_runs(int) {}
void steelyard_internal_work_shared(void) {}
int steelyard_internal_team_is_larger(void) { return 0; }
void steelyard_internal_tasks_ended(const steelyard_task_pool_statistics_t*, const char*) {}
void steelyard_internal_wait_begins(int) {}
void steelyard_internal_wait_ends(void) {}

steelyard_internal_function_t steelyard_internal_bcast(void) { return nullptr; }
void steelyard_internal_next_bcast(void) {}

int steelyard_active(void) {
  steelyard::api::set_message(not_started);
  return 0;
}

steelyard_status_t steelyard_cores_init(int cores) { return none_move("steelyard_cores_init", cores, nullptr); }

int steelyard_cores_movable(void) { return steelyard_active(); }

steelyard_status_t steelyard_cores_get(int* cpus, int capacity, int* count) {
  if (count != nullptr) *count = 0;
  const bool null = count == nullptr || (cpus == nullptr && capacity != 0);
  return steelyard::api::guarded("steelyard_cores_get", null, "pointer", [&]() -> steelyard::base::Status {
    if (capacity < 0)
      return steelyard::api::invalid_argument("steelyard_cores_get() was called with a capacity of {}", capacity);
    const std::vector<int> mask = steelyard::node::affinity_mask().cpus();
    std::copy_n(mask.begin(), std::min(mask.size(), static_cast<std::size_t>(capacity)), cpus);
    *count = static_cast<int>(mask.size());
    return {};
  });
}

steelyard_status_t steelyard_cores_lend(int cores, int* lent) { return none_move("steelyard_cores_lend", cores, lent); }
steelyard_status_t steelyard_cores_reclaim(int* missing) { return none_move("steelyard_cores_reclaim", 0, missing); }
steelyard_status_t steelyard_cores_acquire(int cores, int* acquired) {
  return none_move("steelyard_cores_acquire", cores, acquired);
}
steelyard_status_t steelyard_cores_release(void) { return STEELYARD_SUCCESS; }
steelyard_status_t steelyard_cores_on_change(steelyard_cores_callback_t, void*) { return STEELYARD_SUCCESS; }
steelyard_status_t steelyard_cores_poll(void) { return STEELYARD_SUCCESS; }
}

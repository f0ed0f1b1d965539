// SPDX-License-Identifier: BSD-3-Clause
#include "api/hooks.h"
#include "api/outcome.h"
#define STEELYARD_WITHOUT_MPI
#include "steelyard/collectives.h"
#include "steelyard/regions.h"
#include "steelyard/steelyard.h"

// libsteelyard: what a program gets that was not started under `steelyard run`.
namespace {

constexpr char not_started[] =
    "not started under `steelyard run`: start the program as `mpirun -n N steelyard run ./app`";

steelyard_status_t inactive() {
  steelyard::api::set_message(not_started);
  return STEELYARD_INACTIVE;
}

}  // namespace

extern "C" {

steelyard_status_t steelyard_step(void) { return inactive(); }
steelyard_status_t steelyard_pause(void) { return inactive(); }
steelyard_status_t steelyard_resume(void) { return inactive(); }
steelyard_status_t steelyard_region_begin(const char*) { return inactive(); }
steelyard_status_t steelyard_region_end(const char*) { return inactive(); }

void steelyard_internal_phases_begin(int) {}
void steelyard_internal_hold_begins(void) {}
void steelyard_internal_hold_ends(int64_t) {}
void steelyard_internal_pool_runs(int) {}
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
}

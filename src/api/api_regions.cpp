// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <string_view>

#include "api/measured.h"
#include "session/named_regions.h"
#include "session/pause.h"
#include "session/steps.h"
#include "steelyard/regions.h"

// steelyard/regions.h over src/session, in the preload library alone. libsteelyard's calls: api_inactive.cpp.
namespace {

using steelyard::api::Code;
using steelyard::api::measured;

steelyard_status_t named(const char* function, const char* name, steelyard::base::Status (*action)(std::string_view)) {
  return measured(function, [&] {
    return name != nullptr ? action(name)
                           : steelyard::base::Status::failure(Code::invalid_argument,
                                                              std::string(function) + "() was called with a null name");
  });
}

}  // namespace

extern "C" {

steelyard_status_t steelyard_region_begin(const char* name) {
  return named(__func__, name, steelyard::session::region_begins);
}
steelyard_status_t steelyard_region_end(const char* name) {
  return named(__func__, name, steelyard::session::region_ends);
}
steelyard_status_t steelyard_get_efficiencies(steelyard_efficiencies_t* efficiencies) {
  if (efficiencies != nullptr) *efficiencies = {};
  return measured(__func__, [&] {
    if (efficiencies == nullptr) {
      return steelyard::base::Status::failure(Code::invalid_argument,
                                              "steelyard_get_efficiencies() was called with a null pointer");
    }
    const steelyard::observe::RunningMetrics running = steelyard::session::running_metrics();
    const steelyard::observe::Metrics& m = running.metrics;
    *efficiencies = {running.seconds,  running.ranks,       m.parallel, m.mpi,
                     m.load_balance,   m.communication,     m.openmp,   m.omp_load_balance,
                     m.omp_scheduling, m.omp_serialisation, m.gpu};
    return steelyard::base::Status();
  });
}
steelyard_status_t steelyard_pause(void) { return measured(__func__, steelyard::session::pause); }
steelyard_status_t steelyard_resume(void) { return measured(__func__, steelyard::session::resume); }
}

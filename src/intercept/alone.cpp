// SPDX-License-Identifier: BSD-3-Clause
// A program without MPI: the Session begins with the first parallel region and ends with the process.
#include <cstdlib>
#include <memory>

#include "base/options.h"
#include "intercept/first_region.h"
#include "loops/registry.h"
#include "node/one_process.h"
#include "session/session.h"

namespace steelyard::intercept {
namespace {

void begin() {
  loops::registry().waits_are_not_reported();
  session::start(std::make_unique<node::OneProcess>(), "none");
  std::atexit(session::finish);
}

__attribute__((constructor)) void wait_for_first_region() {
  if (base::options().launched) on_first_region(begin);
}

}  // namespace
}  // namespace steelyard::intercept

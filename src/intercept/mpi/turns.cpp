#include "intercept/mpi/turns.h"

#include <sched.h>

#include <algorithm>

#include "intercept/mpi/call.h"
#include "node/sleep.h"

namespace steelyard::intercept {
namespace {

constexpr int kProgress = 32;
constexpr int kYield = 256;  // there may be more ranks than cores, and a call that must poll
constexpr int kSpins = 2000;
constexpr std::int64_t kLongestStep = 50'000;

}  // namespace

void Turns::next() {
  ++turns_;
  if (turns_ % kProgress == 0) {
    int found = 0;
    PMPI_Iprobe(0, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
  }
  if (turns_ % kYield == 0) sched_yield();
  if (call_ != nullptr) {
    call_->pause();
  } else if (turns_ < kSpins) {
    node::relax();
  } else {
    node::sleep_for(std::min<std::int64_t>((turns_ - kSpins + 1) * std::int64_t{1000}, kLongestStep));
  }
}

}  // namespace steelyard::intercept

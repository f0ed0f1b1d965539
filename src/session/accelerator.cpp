// SPDX-License-Identifier: BSD-3-Clause
#include "session/accelerator.h"

#include "base/clock.h"
#include "session/other_regions.h"
#include "session/state.h"
#include "session/waits.h"

namespace steelyard::session {

AcceleratorWait::AcceleratorWait(std::uint64_t site) {
  Session* session = g_session;
  if (session == nullptr) return;
  if (present_cell() != nullptr || in_region()) {
    measured_ = Measured::thread;
    begin_ = event_ns();
    return;
  }
  if (!t_primary) return;
  begin_ = event_ns();
  if (!session->activity.enter_gpu(begin_)) return;
  measured_ = Measured::process;
  history_ = &session->waits.sites.at(site | 1);
  const bool known = history_->executions > 2;
  if (known && history_->mean_ns < kShortWait) return;
  cpu_begin_ = base::thread_cpu_ns();
  if (!lends(*session)) return;
  session->cores->before_call(begin_);
  if (known) lend();
}

// The call cannot be interrupted, so the cores are lent before it. By default, CUDA polls in it: the core of the
// polling thread is not free. Where programs share cores, it may have a core for less than half of its wait.
void AcceleratorWait::lend() {
  Session& session = *g_session;
  const bool polls = 4 * history_->cpu_ns > history_->mean_ns;
  lent_ = session.cores->lent_in_waits() - (polls ? 1 : 0);
  if (lent_ <= 0) return;
  session.cores->lend(begin_, {.until = begin_ + static_cast<std::int64_t>(history_->mean_ns)}, polls);
}

void AcceleratorWait::come_back(std::int64_t now) {
  Session& session = *g_session;
  session.activity.lent((now - begin_) * lent_);
  session.cores->come_back();
  session.cores->return_to_own_core();
}

AcceleratorWait::~AcceleratorWait() {
  Session* session = g_session;
  if (measured_ == Measured::nothing || session == nullptr) return;
  const std::int64_t now = event_ns();
  if (measured_ == Measured::thread) {
    accelerator_waited(now - begin_);
    return;
  }
  if (lent_ > 0) come_back(now);
  session->activity.leave_gpu(now);
  history_->add(now - begin_);
  if (cpu_begin_ >= 0) observe::Site::blend(history_->cpu_ns, base::thread_cpu_ns() - cpu_begin_);
  sample(*session, now);
}

}  // namespace steelyard::session

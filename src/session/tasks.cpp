// SPDX-License-Identifier: BSD-3-Clause
#include "session/tasks.h"

#include "session/state.h"

namespace steelyard::session {
namespace {

/// Task pools that the program has freed. It is on from the first of them.
class Tasks final : public Capability {
 public:
  explicit Tasks(Session& session) { session.tasks = &freed_; }
  void contribute(const Session&, observe::Contribution& part) const override {
    part.tasks.push_back(freed_);
    part.tasks.back().rank = part.rank.rank;
  }

 private:
  observe::TasksRecord freed_;  // the sum of all
};

}  // namespace

void pool_runs(int threads) {
  const Session* session = g_session;
  if (session == nullptr || !t_primary || !in_region()) return;
  if (observe::Site* const site = session->regions.present; site != nullptr) site->pool_threads = threads;
  work_shared();
}

void tasks_ended(const observe::TasksRecord& pool) {
  Session* session = g_session;
  if (session == nullptr) return;
  if (session->tasks == nullptr) session->capabilities.push_back(std::make_unique<Tasks>(*session));
  *session->tasks += pool;
}

}  // namespace steelyard::session

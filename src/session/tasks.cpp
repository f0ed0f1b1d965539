// SPDX-License-Identifier: BSD-3-Clause
#include "session/capabilities.h"
#include "session/session.h"
#include "session/state.h"

namespace steelyard::session {

void TasksCapability::contribute(const Session&, observe::Contribution& part) const {
  part.tasks.push_back(freed);
  part.tasks.back().rank = part.rank.rank;
}

void tasks_ended(const observe::TasksRecord& pool) {
  if (g_session == nullptr) return;
  if (g_session->tasks == nullptr) g_session->tasks = &g_session->add<TasksCapability>();
  g_session->tasks->freed += pool;
}

}  // namespace steelyard::session

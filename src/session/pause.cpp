// SPDX-License-Identifier: BSD-3-Clause
// steelyard_pause() and steelyard_resume(): what happens between them is in no figure.
#include "session/pause.h"

#include "base/clock.h"
#include "session/state.h"

namespace steelyard::session {
namespace {

using base::Code;
using base::Status;

Status misplaced(const Session& session, const char* call, const char* state) {
  if (session.held) {
    return Status::failure(Code::invalid_state, std::string(call) +
                                                    "() was called in a phase, or while a binding is "
                                                    "pushed: call it outside of phases");
  }
  return Status::failure(Code::invalid_state, std::string(call) + "() was called while the measurement is " + state);
}

}  // namespace

observe::Totals totals_of(const Session& session, std::int64_t now) {
  const Pause& pause = session.pause;
  return (pause.begin > 0 ? pause.at_begin : session.activity.totals_at(now)) - pause.left_out;
}

Status pause() {
  Session& session = *g_session;
  Pause& pause = session.pause;
  if (pause.begin > 0 || session.held) return misplaced(session, "steelyard_pause", "paused");
  const std::int64_t now = base::now_ns();
  pause.at_begin = session.activity.totals_at(now);
  pause.cpu = cpu_use();
  pause.begin = now;
  // To the other ranks, this rank computes alone: more threads would not shorten the pause.
  session.activity.hold(now);
  return {};
}

Status resume() {
  Session& session = *g_session;
  Pause& pause = session.pause;
  if (pause.begin == 0 || session.held) return misplaced(session, "steelyard_resume", "not paused");
  const std::int64_t now = base::now_ns();
  session.activity.release(now, -1);
  pause.left_out += session.activity.totals_at(now) - pause.at_begin;
  session.start.time += now - pause.begin;
  session.start.cpu.leave_out(pause.cpu, cpu_use());
  pause.begin = 0;
  return {};
}

void contribute_pause(const Session& session, std::int64_t now, observe::Contribution& part) {
  const Pause& pause = session.pause;
  const std::int64_t open = pause.begin > 0 ? now - pause.begin : 0;
  part.rank.paused = base::seconds(pause.left_out.wall + open);
  if (part.rank.paused > 0) part.remarks.emplace_back("the program paused the measurement: this time is in no figure");
  const CpuUse cpu = pause.begin > 0 ? pause.cpu : cpu_use();
  part.rank.cpu = cpu.seconds - session.start.cpu.seconds;
  const std::int64_t run_delay = cpu.run_delay_since(session.start.cpu);
  part.rank.run_delay = run_delay < 0 ? -1 : base::seconds(run_delay);
  part.rank.throttled = cpu.throttled - session.start.cpu.throttled;
  if (pause.begin == 0) return;
  part.remarks.emplace_back("the measurement was paused at MPI_Finalize: was steelyard_resume() left out?");
}

}  // namespace steelyard::session

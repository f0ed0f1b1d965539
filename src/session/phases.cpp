// SPDX-License-Identifier: BSD-3-Clause
#include "session/phases.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/clock.h"
#include "session/state.h"

namespace steelyard::session {
namespace {

// Size: phases of a process in the record. A program that creates one in each step and frees none must not fill it.
constexpr std::size_t kMostPhases = 100;

/// Phases that this process has left (steelyard/phases.h). It is on from the first of them.
class Phases final : public Capability {
 public:
  explicit Phases(Session& session) { session.phases = &left_; }
  void contribute(const Session&, observe::Contribution& part) const override {
    for (const auto& [number, phase] : left_) {
      part.phases.push_back(phase);
      part.phases.back().rank = part.rank.rank;
      part.phases.back().node = part.rank.node;
    }
    if (left_.size() == kMostPhases) {
      part.remarks.push_back(fmt::format(
          "the record has the first {} phases alone: create a phase once, or free it before the next is created",
          kMostPhases));
    }
  }

 private:
  std::map<int, observe::PhaseRecord> left_;  // by number
};

}  // namespace

void phases_begin(int processes) {
  if (!may_move()) return;
  if (g_session == nullptr || processes < g_session->count) {
    fix_thread_count(ThreadLimits::phases,
                     "the program has phases for some ranks of the node only (steelyard/phases.h)");
  } else if (g_session->cores != nullptr) {
    g_session->cores->unbind();  // the context takes this thread's binding for that of the launcher
    g_session->cores->rebind();
  }
}

void hold_begins() {
  Session* session = g_session;
  if (session == nullptr || !t_primary || in_region()) return;
  const std::int64_t now = base::now_ns();
  if (session->cores != nullptr) session->cores->before_call(now);
  restore_thread_count();
  session->held = true;
  session->program_before = limits().program;
  if (session->pause.begin == 0) session->activity.hold(now);
}

void hold_ends(std::int64_t phases) {
  Session* session = g_session;
  if (session == nullptr || !session->held) return;
  session->held = false;
  if (session->pause.begin == 0) session->activity.release(base::now_ns(), phases);
  if (session->cores != nullptr) session->cores->rebind();
  if (limits().program != session->program_before) note_set_by_program(limits().program);
}

void phase_left(observe::PhaseRecord phase) {
  Session* session = g_session;
  if (session == nullptr) return;
  if (session->phases == nullptr) session->capabilities.push_back(std::make_unique<Phases>(*session));
  std::map<int, observe::PhaseRecord>& left = *session->phases;
  const int number = phase.number;
  if (left.size() < kMostPhases || left.contains(number)) left.insert_or_assign(number, std::move(phase));
}

}  // namespace steelyard::session

// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include "session/session.h"
#include "session/state.h"

namespace steelyard::session {
namespace {

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
  }

 private:
  std::map<int, observe::PhaseRecord> left_;  // by number
};

}  // namespace

void phase_left(int number, observe::PhaseRecord phase) {
  Session* session = g_session;
  if (session == nullptr) return;
  if (session->phases == nullptr) session->capabilities.push_back(std::make_unique<Phases>(*session));
  (*session->phases)[number] = std::move(phase);
}

}  // namespace steelyard::session

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include "collectives/account.h"
#include "collectives/board.h"
#include "collectives/broadcasting.h"
#include "cores/cores.h"
#include "session/capability.h"

namespace steelyard::session {

/// Cores move and are lent.
class CoresCapability final : public Capability {
 public:
  std::uint32_t wanted(const Session& session) const override;
  node::Footprint footprint(Session& session) override;
  std::string header(const Session& session) const override;
  void contribute(const Session& session, observe::Contribution& part) const override;

 private:
  std::unique_ptr<cores::Cores> cores_;
};
/// Why no core moves and none is lent on this node; empty if they can.
std::string why_no_core_moves(const Session& session);

/// Broadcasts and scatters are delivered by Steelyard.
class CollectivesCapability final : public Capability {
 public:
  std::uint32_t wanted(const Session& session) const override;
  void agreed(std::uint32_t bits, const Session& session) override;
  node::Footprint footprint(Session& session) override;
  std::string header(const Session& session) const override;
  void contribute(const Session& session, observe::Contribution& part) const override;

  collectives::Boards& boards() { return *boards_; }
  collectives::Account& account() { return account_; }
  const collectives::Broadcasting& chosen() const { return chosen_; }

 private:
  std::unique_ptr<collectives::Boards> boards_;
  collectives::Account account_;
  collectives::Broadcasting chosen_;
};

/// The program's loops, and those that it divides by calls of Steelyard.
class LoopsCapability final : public Capability {
 public:
  std::string header(const Session& session) const override;
  void contribute(const Session& session, observe::Contribution& part) const override;
};

/// Task pools that the program has freed. It is on from the first of them.
class TasksCapability final : public Capability {
 public:
  void contribute(const Session& session, observe::Contribution& part) const override;
  observe::TasksRecord freed;  ///< the sum of all
};

}  // namespace steelyard::session

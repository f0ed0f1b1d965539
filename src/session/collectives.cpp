// SPDX-License-Identifier: BSD-3-Clause
#include "session/collectives.h"

#include "session/capability.h"
#include "session/state.h"

namespace steelyard::session {

namespace {

// Encoding: bits of the agreement.
constexpr std::uint32_t kEvery = 2, kCompares = 4, kTrees = 8;

collectives::Policy policy_of(base::CollectivesTree tree) {
  switch (tree) {
    case base::CollectivesTree::swap: return collectives::Policy::swap;
    case base::CollectivesTree::soga: return collectives::Policy::soga;
    case base::CollectivesTree::binomial: return collectives::Policy::binomial;
    default: return collectives::Policy::sort;
  }
}

/// Broadcasts and scatters are delivered by Steelyard.
class Collectives final : public Capability {
 public:
  std::uint32_t wanted(const Session& session) const override {
    using base::Collectives;
    const base::Options& options = base::options();
    if (options.observe || options.collectives == Collectives::off || session.bootstrap->size() == 1) return 0;
    return kOn | (options.collectives != Collectives::called ? kEvery : 0) |
           (options.collectives == Collectives::automatic ? kCompares : 0) |
           (options.collectives_tree != base::CollectivesTree::library ? kTrees : 0);
  }

  void agreed(std::uint32_t bits, Session& session) override {
    const base::Options& options = base::options();
    session.collectives = &delivery_;
    collectives::Broadcasting& chosen = delivery_.chosen;
    delivery_.account.open(true);
    chosen.every = (bits & kEvery) != 0;
    chosen.compares = (bits & kCompares) != 0;
    chosen.on = (bits & kTrees) != 0 && session.bootstrap->node_count() > 1;
    chosen.node = session.bootstrap->node_index();
    chosen.settings.policy = policy_of(options.collectives_tree);
    chosen.settings.every = static_cast<int>(options.collectives_tree_every);
    chosen.settings.threshold = options.collectives_tree_threshold * std::int64_t{1000};
    chosen.settings.decision = options.decision();
    chosen.may_leave_to_library = options.collectives_tree == base::CollectivesTree::automatic;
  }

  node::Footprint footprint(Session& session) override {
    node::Footprint part = node::footprint_of(delivery_.boards, session.count, session.me);
    part.spare = collectives::Boards::spare();
    return part;
  }

  std::string header(const Session&) const override { return "collectives " + text_of_option("collectives"); }

  void contribute(const Session&, observe::Contribution& part) const override {
    const double confidence = delivery_.chosen.settings.decision.confidence;
    part.rank.broadcasts = delivery_.account.of(collectives::Operation::broadcast, confidence);
    part.rank.scatters = delivery_.account.of(collectives::Operation::scatter, confidence);
    part.trees = delivery_.account.trees();
    if (base::options().collectives == base::Collectives::called && !delivery_.account.any_called()) {
      part.remarks.emplace_back(
          "--collectives=called, but the program never called steelyard_bcast(): the MPI library handled its "
          "broadcasts");
    }
  }

 private:
  Delivery delivery_;
};

}  // namespace

std::unique_ptr<Capability> make_collectives() { return std::make_unique<Collectives>(); }

std::unique_ptr<collectives::Board> open_board(const CommunicatorOnNode* communicator) {
  if (g_session == nullptr || g_session->collectives == nullptr || !communicator->sure) return nullptr;
  return g_session->collectives->boards->open(communicator->slot, communicator->member_of_rank);
}

collectives::Broadcasting broadcasting() {
  const bool on = g_session != nullptr && g_session->collectives != nullptr;
  return on ? g_session->collectives->chosen : collectives::Broadcasting();
}

collectives::Account& collectives_account() {
  static collectives::Account of_nothing;
  const bool on = g_session != nullptr && g_session->collectives != nullptr;
  return on ? g_session->collectives->account : of_nothing;
}

}  // namespace steelyard::session

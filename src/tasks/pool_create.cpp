// SPDX-License-Identifier: BSD-3-Clause
// Pool: its creation, on which all ranks must agree.
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "tasks/pool.h"

namespace steelyard::tasks {
namespace {

std::uint64_t digest(const std::string& text) {
  std::uint64_t value = text.size();
  for (const char c : text) value = hash(value ^ static_cast<unsigned char>(c));
  return value;
}

base::Status in_range(const Settings& settings) {
  const auto refused = [](const char* option, auto value, const char* range) {
    return base::Status::failure(base::Code::invalid_argument,
                                 fmt::format("a task pool cannot be made with {} = {}: use {}", option, value, range));
  };
  if (settings.threads < 1) return refused("threads", settings.threads, "1 or more");
  if (settings.degree < 0) return refused("degree", settings.degree, "1 or more, or 0 for the default");
  if (settings.ranks_per_node < 0) return refused("ranks_per_node", settings.ranks_per_node, "1 or more, or 0 for all");
  const bool is_part = settings.fraction >= 0 && settings.fraction <= 1;  // false for what is no number
  if (!is_part) {
    return refused("steal_fraction", settings.fraction, "a fraction up to 1, or 0 for adaptive");
  }
  return {};
}

/// Collective: compares names of functions and settings with those of rank 0. A function's number must mean the same in
/// every rank, and routes must agree.
base::Status agree_on(const std::string& names, const Settings& settings, Transport& transport) {
  struct Common {
    std::uint64_t names, policy;
    double fraction;
    std::int32_t degree, ranks_per_node;
    char text[240];
  } common{digest(names), digest(settings.policy), settings.fraction, settings.degree, settings.ranks_per_node, {}};
  names.copy(common.text, sizeof(common.text) - 1);
  const Common mine = common;
  transport.broadcast(&common, sizeof(common));
  const bool same_functions = mine.names == common.names;
  const bool same_policy = mine.policy == common.policy;
  const bool same_options = mine.degree == common.degree && mine.ranks_per_node == common.ranks_per_node &&
                            (mine.fraction == common.fraction || std::isnan(mine.fraction));
  base::Status good = in_range(settings);
  if (transport.all_agree(same_functions && same_policy && same_options && good)) return {};
  if (!good) return good;
  if (!same_functions) {
    return base::Status::failure(
        base::Code::mismatch,
        fmt::format(
            "rank {} registers the task functions \"{}\", rank 0 \"{}\": all ranks must register the same ones in "
            "the same order",
            transport.rank(), mine.text, common.text));
  }
  if (!same_policy) {
    return base::Status::failure(
        base::Code::mismatch,
        fmt::format("rank {} makes the task pool with another policy than rank 0: all ranks must ask for the same",
                    transport.rank()));
  }
  if (!same_options) {
    return base::Status::failure(base::Code::mismatch,
                                 fmt::format("rank {} makes the task pool with degree {}, steal_fraction {} and "
                                             "ranks_per_node {}, rank 0 with {}, {} and {}: they must be the same",
                                             transport.rank(), mine.degree, mine.fraction, mine.ranks_per_node,
                                             common.degree, common.fraction, common.ranks_per_node));
  }
  return base::Status::failure(
      base::Code::peer,
      "another rank cannot create the task pool, because of its task types or options: see its message");
}

}  // namespace

base::Status Pool::create(std::unique_ptr<Transport> transport, std::vector<Function> functions,
                          const std::string& names, const Settings& settings, std::unique_ptr<Pool>& pool) {
  if (base::Status agreed = agree_on(names, settings, *transport); !agreed) return agreed;
  std::unique_ptr<Pool> made(new Pool(std::move(transport), std::move(functions), settings));
  const bool receivers = made->placement().nodes() > 1;
  base::Status there = Arena::create(*made->transport_, settings.threads, receivers, made->arena_);
  if (!there) return there;
  const int local = made->transport_->node_rank();
  for (int thread = 0; thread < settings.threads; ++thread) {
    made->workers_.push_back(std::make_unique<Worker>(*made, *made->arena_, made->arena_->first_worker(local) + thread,
                                                      thread == 0, made->policy_->moves_tasks()));
  }
  if (receivers) {
    made->workers_.push_back(
        std::make_unique<Worker>(*made, *made->arena_, made->arena_->receiver(local), false, false));
    made->receiver_ = made->workers_.back().get();
  }
  made->termination_ = std::make_unique<TerminationDetection>(*made->arena_, made->duties_, made->transport_->size(),
                                                              made->termination_sender_);
  made->missing_ranks_ =
      std::make_unique<MissingRanks>(*made->arena_, local, made->routes_, made->duties_, made->missing_ranks_sender_);
  pool = std::move(made);
  return {};
}

Pool::Pool(std::unique_ptr<Transport> transport, std::vector<Function> functions, const Settings& settings)
    : transport_(std::move(transport)),
      functions_(std::move(functions)),
      settings_(settings),
      policy_(policy_named(settings.policy, settings.degree)),
      routes_([this] {
        RankPlacement placement(transport_->size(), transport_->ranks_per_node(), transport_->nodes());
        return Routes(placement, policy_->overlay(placement.nodes(), settings_.degree));
      }()),
      duties_(routes_.duties(transport_->rank())),
      send_queue_(*transport_),
      router_(transport_->rank(), *this, settings.parcel, settings.outstanding),
      team_(settings.threads - 1) {
  for (const Routes::Link& link : duties_.links) links_.push_back({link, {}, Asked::no, link.peer});
  std::vector<std::size_t> all(policy_->moves_tasks() ? links_.size() : 0);
  std::iota(all.begin(), all.end(), 0);
  set_askable(std::move(all));
}

}  // namespace steelyard::tasks

// SPDX-License-Identifier: BSD-3-Clause
#include "cores/sabo.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace steelyard::cores {
namespace {

class Search {
 public:
  Search(const std::vector<int>& wanted, const std::vector<int>& capacity)
      : wanted_(wanted), free_(capacity), socket_(wanted.size()), threads_(wanted.size()) {
    best_.missing = std::accumulate(wanted.begin(), wanted.end(), 1);
  }

  SocketMapping run() {
    explore(0, 0);
    best_.exact = nodes_ <= kEffort;
    return std::move(best_);
  }

 private:
  void explore(std::size_t depth, int missing) {
    if (missing >= best_.missing || ++nodes_ > kEffort) return;
    if (depth == wanted_.size()) {
      best_ = {socket_, threads_, missing};
      return;
    }
    const bool root = depth < free_.size();
    for (std::size_t s = root ? depth : 0; s < (root ? depth + 1 : free_.size()); ++s) {
      if (free_[s] <= 0) continue;
      const int given = std::min(wanted_[depth], free_[s]);
      socket_[depth] = static_cast<int>(s);
      threads_[depth] = given;
      free_[s] -= given;
      explore(depth + 1, missing + wanted_[depth] - given);
      free_[s] += given;
    }
  }

  const std::vector<int>& wanted_;
  std::vector<int> free_, socket_, threads_;
  SocketMapping best_;
  int nodes_ = 0;
};

/// Domains that a process spans are one to this rule, as to the planner.
struct Sockets : JoinedShape {
  explicit Sockets(const NodeShape& shape) : JoinedShape(joined(shape)) {}
  std::size_t main_socket(std::size_t p) const {
    return static_cast<std::size_t>(std::ranges::max_element(held[p]) - held[p].begin());
  }
};

}  // namespace

SocketMapping map_to_sockets(const std::vector<int>& wanted, const std::vector<int>& capacity) {
  return Search(wanted, capacity).run();
}

Sabo::Sabo(int every, int at) : every_(std::max(1, every)), at_(at), next_(at > 0 ? at : every_) {}

int Sabo::steps_wanted() const { return static_cast<int>(std::max(1L, next_ - step_)); }

void Sabo::gather(const Window& window) {
  const bool same = std::ranges::equal(gathered_, window.loads, {}, &ProcessLoad::threads, &ProcessLoad::threads);
  if (!same) {
    gathered_ = window.loads;
    gathered_steps_ = window.steps;
    return;
  }
  gathered_steps_ += window.steps;
  for (std::size_t p = 0; p < gathered_.size(); ++p) {
    gathered_[p].parallel += window.loads[p].parallel;
    gathered_[p].region_wall += window.loads[p].region_wall;
    gathered_[p].ceiling = window.loads[p].ceiling;
    gathered_[p].fixed = window.loads[p].fixed;
  }
}

void Sabo::decide(const NodeShape& shape, Verdict& verdict) const {
  const std::vector<ProcessLoad>& loads = gathered_;
  const std::vector<int> shares = proportional_counts(loads, shape.budget, 0);
  if (std::ranges::equal(shares, loads, {}, {}, &ProcessLoad::threads)) {
    verdict.reason = "SABO's rule: each rank has its share of the cores";
    return;
  }
  const Sockets sockets(shape);
  std::vector<int> free = sockets.capacity;
  std::vector<std::size_t> movable;
  Plan& plan = verdict.plan;
  plan.method = "SABO's rule";
  plan.threads = shares;
  for (std::size_t p = 0; p < loads.size(); ++p) {
    plan.domain.push_back(static_cast<int>(sockets.main_socket(p)));
    if (loads[p].fixed) {
      free[sockets.main_socket(p)] -= loads[p].threads;
    } else {
      movable.push_back(p);
    }
  }
  std::ranges::stable_sort(movable, std::ranges::greater(), [&](std::size_t p) { return loads[p].parallel; });
  std::vector<int> wanted;
  for (const std::size_t p : movable) wanted.push_back(shares[p]);
  std::vector<int> usable, room;  // each of the first processes gets a socket
  for (std::size_t s = 0; s < free.size(); ++s) {
    if (free[s] <= 0) continue;
    usable.push_back(static_cast<int>(s));
    room.push_back(free[s]);
  }
  const SocketMapping mapping = map_to_sockets(wanted, room);
  if (mapping.socket.size() != movable.size()) {
    verdict.reason = "SABO's rule: there are not enough cores on the sockets for a core for each rank";
    return;
  }
  for (std::size_t i = 0; i < movable.size(); ++i) {
    plan.threads[movable[i]] = mapping.threads[i];
    plan.domain[movable[i]] = usable[static_cast<std::size_t>(mapping.socket[i])];
  }
  std::size_t slowest = 0;
  for (std::size_t p = 0; p < loads.size(); ++p) {
    const double then = loads[p].region_wall * loads[p].threads / plan.threads[p] / gathered_steps_;
    plan.busy_now = std::max(plan.busy_now, loads[p].region_wall / gathered_steps_);
    if (then > plan.busy_then) slowest = p;
    plan.busy_then = std::max(plan.busy_then, then);
    const auto socket = static_cast<std::size_t>(plan.domain[p]);
    plan.moved += std::max(0, plan.threads[p] - sockets.held[p][socket]);
    plan.domain[p] = sockets.name[socket];
  }
  const char* const cut = mapping.exact ? "" : "; the search for sockets was cut short";
  const bool pays = plan.busy_then < plan.busy_now && plan.moved > 0;
  verdict.forecast_gain = plan.gain();
  verdict.reason = pays ? fmt::format("SABO's rule: the slowest rank computes {:.4g} -> {:.4g} s per step{}",
                                      plan.busy_now, plan.busy_then, cut)
                        : fmt::format(
                              "SABO's rule: rank {} of the node would compute {:.4g} s per step, the slowest rank "
                              "computes {:.4g} s now{}",
                              slowest, plan.busy_then, plan.busy_now, cut);
  if (pays) verdict.action = Action::apply;
}

Verdict Sabo::consider(const Window& window, const NodeShape& shape) {
  Verdict verdict;
  verdict.undecided = std::exchange(moved_, false);
  step_ += std::max(0, window.steps);
  verdict.reason = no_plan_reason(window, shape);
  if (!verdict.reason.empty()) return verdict;
  gather(cleaned(window));
  if (next_ == 0 || step_ < next_) {
    verdict.reason = next_ > 0                  ? fmt::format("next plan at step {}", next_)
                     : declined_reason_.empty() ? "planned once (--balance-at)"
                                                : declined_reason_;
    return verdict;
  }
  next_ = at_ > 0 ? 0 : (step_ / every_ + 1) * every_;
  decide(shape, verdict);
  gathered_.clear();
  moved_ = verdict.action == Action::apply;
  declined_reason_ = moved_ ? "" : verdict.reason;
  return verdict;
}

}  // namespace steelyard::cores

// SPDX-License-Identifier: BSD-3-Clause
#include "cores/plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "decide/settings.h"

namespace steelyard::cores {
namespace {

/// Forecasts closer than this are a tie: no model of scaling is better, and no trial would tell them apart.
constexpr double kTie = decide::Settings{}.exploration / 2;

bool complete(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, const NodeShape& shape) {
  return !loads.empty() && scaling.size() == loads.size() && shape.held.size() == loads.size() &&
         !shape.capacity.empty() && std::all_of(shape.held.begin(), shape.held.end(), [&](const std::vector<int>& row) {
           return row.size() == shape.capacity.size();
         });
}

class PlanSearch {
 public:
  PlanSearch(std::vector<ProcessLoad> loads, const std::vector<Scaling>& scaling, const NodeShape& shape)
      : loads_(std::move(loads)), scaling_(scaling), budget_(shape.budget) {
    JoinedShape merged = joined(shape);
    names_ = std::move(merged.name);
    capacity_ = std::move(merged.capacity);
    held_ = std::move(merged.held);
    free_ = capacity_;
    for (std::size_t p = 0; p < loads_.size(); ++p) {
      const auto most = std::max_element(held_[p].begin(), held_[p].end());
      main_domain_.push_back(*most > 0 ? static_cast<int>(most - held_[p].begin()) : -1);
      if (!loads_[p].fixed || main_domain_[p] < 0)
        movable_.push_back(p);
      else
        free_[main_domain_[p]] -= loads_[p].threads;
    }
    for (int& cores : free_) cores = std::max(0, cores);
    largest_ = std::max(1, *std::max_element(free_.begin(), free_.end()));
  }

  Plan make() {
    Plan now;
    for (std::size_t p = 0; p < loads_.size(); ++p) {
      now.threads.push_back(loads_[p].threads);
      now.domain.push_back(main_domain_[p] < 0 ? -1 : names_[main_domain_[p]]);
      now.busy_now = std::max(now.busy_now, measured_busy(loads_[p]));
    }
    now.busy_then = longest(now.threads);
    now.method = "as it is";
    best_ = now;
    if (possible()) {
      offer_all();
      if (best_.moved > 0) return best_;
    }
    now.busy_then = now.busy_now;
    return now;
  }

 private:
  bool possible() const {
    return !movable_.empty() && budget_ >= static_cast<int>(loads_.size()) &&
           std::accumulate(free_.begin(), free_.end(), 0) >= static_cast<int>(movable_.size());
  }

  void offer_all() {
    if (std::all_of(main_domain_.begin(), main_domain_.end(), [](int domain) { return domain >= 0; }))
      offer_in(main_domain_, "integer optimum");
    const std::vector<int> optimum = optimal_counts(loads_, scaling_, budget_, largest_);
    const bool fits = offer_placed(optimum, "integer optimum");
    offer_placed(proportional_counts(loads_, budget_, largest_), "proportional share");
    if (!fits) search_down_to(longest(optimum));
  }

  /// The optimum found no room: the shortest time for which the fewest threads that reach it do find room.
  void search_down_to(double impossible) {
    double possible = best_.busy_then;
    while (impossible < possible * (1 - kTie)) {
      const double busy = (impossible + possible) / 2;
      const Room room = find_room(least_counts(loads_, scaling_, busy, largest_));
      if (room.missing == 0) offer_in(room.domain, "integer optimum");
      (room.missing == 0 ? possible : impossible) = busy;
    }
  }

  struct Room {
    std::vector<int> domain;
    int missing = 0;
  };
  Room find_room(const std::vector<int>& counts) const {
    Room room{main_domain_, 0};
    if (free_.size() == 1) {
      std::fill(room.domain.begin(), room.domain.end(), 0);
      return room;
    }
    std::vector<int> wanted;
    std::vector<std::vector<int>> held;
    for (std::size_t p : movable_) {
      wanted.push_back(counts[p]);
      held.push_back(held_[p]);
    }
    const auto cells = static_cast<int>(movable_.size() * free_.size());
    const Placement placement = place(wanted, free_, held, std::clamp(kEffort / cells, 100, 4000));
    for (std::size_t i = 0; i < movable_.size(); ++i) room.domain[movable_[i]] = placement.domain[i];
    room.missing = placement.missing;
    return room;
  }

  /// True where every process found room for its count. Otherwise the counts are made anew inside the domains.
  bool offer_placed(const std::vector<int>& counts, const char* method) {
    const Room room = find_room(counts);
    if (room.missing == 0)
      offer(counts, room.domain, method);
    else
      offer_in(room.domain, method);
    return room.missing == 0;
  }

  void offer_in(const std::vector<int>& domain, const char* method) {
    offer(optimal_counts_in(domain, capacity_, loads_, scaling_, budget_), domain, method);
  }

  void offer(const std::vector<int>& counts, const std::vector<int>& domain, const char* method) {
    Plan candidate{counts, domain, best_.busy_now, longest(counts), 0, method};
    for (std::size_t p = 0; p < counts.size(); ++p) {
      candidate.moved += std::max(0, counts[p] - held_[p][domain[p]]);
      candidate.domain[p] = names_[domain[p]];
    }
    const bool better = candidate.busy_then < best_.busy_then * (1 - kTie);
    const bool as_good = candidate.busy_then * (1 - kTie) <= best_.busy_then;
    if (better || (as_good && candidate.moved < best_.moved)) best_ = std::move(candidate);
  }

  double longest(const std::vector<int>& counts) const {
    double busy = 0;
    for (std::size_t p = 0; p < counts.size(); ++p)
      busy = std::max(busy, forecast_busy(loads_[p], scaling_[p], counts[p]));
    return busy;
  }

  const std::vector<ProcessLoad> loads_;
  const std::vector<Scaling>& scaling_;
  const int budget_;
  std::vector<int> names_;              ///< by domain here: its number in the NodeShape
  std::vector<int> capacity_;           ///< by domain here
  std::vector<int> free_;               ///< the same without the cores of fixed processes
  std::vector<std::vector<int>> held_;  ///< by process and domain here
  std::vector<int> main_domain_;        ///< by process: where it holds most, -1 where it holds nothing
  std::vector<std::size_t> movable_;    ///< processes that need a place: all but fixed ones that have one
  int largest_ = 1;
  Plan best_;
};

}  // namespace

std::vector<int> joined_domains(const NodeShape& shape) {
  std::vector<int> joined(shape.capacity.size());
  std::iota(joined.begin(), joined.end(), 0);
  for (const std::vector<int>& row : shape.held) {
    int first = -1;
    for (std::size_t d = 0; d < std::min(row.size(), joined.size()); ++d) {
      if (row[d] <= 0) continue;
      if (first < 0) first = joined[d];
      const int low = std::min(first, joined[d]), high = std::max(first, joined[d]);
      std::replace(joined.begin(), joined.end(), high, low);
      first = low;
    }
  }
  return joined;
}

JoinedShape joined(const NodeShape& shape) {
  JoinedShape found;
  const std::vector<int> first = joined_domains(shape);
  std::vector<std::size_t> index(first.size());
  for (std::size_t d = 0; d < first.size(); ++d) {
    const auto low = static_cast<std::size_t>(first[d]);
    index[d] = low == d ? found.name.size() : index[low];
    if (low == d) {
      found.name.push_back(first[d]);
      found.capacity.push_back(0);
    }
    found.capacity[index[d]] += std::max(0, shape.capacity[d]);
  }
  found.held.assign(shape.held.size(), std::vector<int>(found.name.size(), 0));
  for (std::size_t p = 0; p < shape.held.size(); ++p)
    for (std::size_t d = 0; d < first.size(); ++d) found.held[p][index[d]] += std::max(0, shape.held[p][d]);
  return found;
}

Plan plan(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, const NodeShape& shape) {
  if (complete(loads, scaling, shape)) return PlanSearch(cleaned(loads), scaling, shape).make();
  Plan nothing;
  nothing.method = "as it is";
  for (const ProcessLoad& load : loads) nothing.threads.push_back(load.threads);
  nothing.domain.assign(loads.size(), -1);
  return nothing;
}

std::vector<ProcessLoad> cleaned(std::vector<ProcessLoad> loads) {
  for (ProcessLoad& load : loads) {
    load.threads = std::max(1, load.threads);
    for (double* value : {&load.parallel, &load.region_wall, &load.serial, &load.wait}) {
      if (!std::isfinite(*value) || *value < 0) *value = 0;
    }
  }
  return loads;
}

}  // namespace steelyard::cores

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "cores/plan.h"

namespace steelyard::cores {
namespace {

/// Forecasts this close are the same number.
constexpr double kRounding = 1 + 64 * std::numeric_limits<double>::epsilon();

int most_threads(const ProcessLoad& load, int domain_cores) {
  if (load.fixed) return load.threads;
  const int most = domain_cores > 0 ? std::min(load.ceiling, domain_cores) : load.ceiling;
  return std::max(1, most);
}

int fewest_threads(const ProcessLoad& load) { return load.fixed ? load.threads : 1; }

/// Counts as they are handed out, with what is left of each domain and of the whole.
class Allotment {
 public:
  Allotment(const std::vector<int>& domain, const std::vector<int>& capacity, const std::vector<ProcessLoad>& loads,
            const std::vector<Scaling>& scaling, int cores)
      : domain_(domain), free_(capacity), left_(cores), loads_(loads), scaling_(scaling), threads_(loads.size(), 0) {}

  double busy(std::size_t p, int threads) const { return forecast_busy(loads_[p], scaling_[p], threads); }
  void set(std::size_t p, int threads) {
    const int more = threads - threads_[p];
    free_[domain_[p]] -= more;
    left_ -= more;
    threads_[p] = threads;
  }
  bool has_room_for(std::size_t p) const { return left_ > 0 && free_[domain_[p]] > 0; }
  bool gives_too_much(std::size_t p) const { return left_ < 0 || free_[domain_[p]] < 0; }
  int most(std::size_t p) const { return most_threads(loads_[p], 0); }
  int operator[](std::size_t p) const { return threads_[p]; }
  std::size_t size() const { return threads_.size(); }
  std::vector<int> take() { return std::move(threads_); }

 private:
  const std::vector<int>& domain_;
  std::vector<int> free_;
  int left_;
  const std::vector<ProcessLoad>& loads_;
  const std::vector<Scaling>& scaling_;
  std::vector<int> threads_;
};

/// Gives core after core to the longest process until that is no longer possible. As time falls with threads, no other
/// counts have a shorter longest process: they would have to give the last one more than there is.
void raise_longest(Allotment& counts) {
  std::priority_queue<std::pair<double, std::size_t>> longest;
  for (std::size_t p = 0; p < counts.size(); ++p) longest.emplace(counts.busy(p, counts[p]), p);
  while (!longest.empty()) {
    const auto [busy, p] = longest.top();
    if (counts[p] >= counts.most(p) || !counts.has_room_for(p)) return;
    const double faster = counts.busy(p, counts[p] + 1);
    if (!(faster < busy)) return;
    counts.set(p, counts[p] + 1);
    longest.pop();
    longest.emplace(faster, p);
  }
}

/// Returns as many threads to what they are now as the optimum allows.
void restore(Allotment& counts, const std::vector<ProcessLoad>& loads) {
  double longest = 0;
  for (std::size_t p = 0; p < counts.size(); ++p) longest = std::max(longest, counts.busy(p, counts[p]));
  longest *= kRounding;
  std::vector<int> least(counts.size());
  std::vector<double> with_one_less(counts.size());
  for (std::size_t p = 0; p < counts.size(); ++p) {
    least[p] = counts[p];
    while (least[p] > fewest_threads(loads[p]) && counts.busy(p, least[p] - 1) <= longest) --least[p];
    counts.set(p, std::max(least[p], std::min(loads[p].threads, counts.most(p))));
    with_one_less[p] = counts.busy(p, counts[p] - 1);
  }
  for (;;) {  // Too many threads were restored: the processes that lose least give them up.
    std::size_t giver = counts.size();
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (counts[p] <= least[p] || !counts.gives_too_much(p)) continue;
      if (giver == counts.size() || with_one_less[p] < with_one_less[giver]) giver = p;
    }
    if (giver == counts.size()) return;
    counts.set(giver, counts[giver] - 1);
    with_one_less[giver] = counts.busy(giver, counts[giver] - 1);
  }
}

}  // namespace

double region_time(const ProcessLoad& load) {
  return std::max(load.region_wall, load.parallel / std::max(1, load.threads));
}

double measured_busy(const ProcessLoad& load) {
  return load.serial + (load.region_wall > 0 ? load.region_wall : region_time(load));
}

double forecast_busy(const ProcessLoad& load, const Scaling& scaling, int threads) {
  const double ratio = static_cast<double>(std::max(1, load.threads)) / std::max(1, threads);
  return load.serial + region_time(load) * (scaling.alpha == 1 ? ratio : std::pow(ratio, scaling.alpha));
}

std::vector<int> proportional_counts(const std::vector<ProcessLoad>& loads, int cores, int domain_cores) {
  std::vector<int> counts(loads.size());
  double heaviest = 0, lightest = 0;
  for (std::size_t p = 0; p < loads.size(); ++p) {
    counts[p] = std::clamp(loads[p].threads, fewest_threads(loads[p]), most_threads(loads[p], domain_cores));
    const double load = loads[p].fixed ? 0 : loads[p].parallel;
    heaviest = std::max(heaviest, load);
    if (load > 0) lightest = lightest > 0 ? std::min(lightest, load) : load;
  }
  if (heaviest <= 0) return counts;

  // The share is `rate` cores for each second of load, within each process's limits, at the rate that uses all cores.
  const auto share = [&](std::size_t p, double rate) {
    const double low = fewest_threads(loads[p]), high = most_threads(loads[p], domain_cores);
    return std::clamp(rate * loads[p].parallel, low, std::max(low, high));
  };
  double low = 0, high = std::max(1, cores) / std::max(lightest, heaviest * 1e-9);
  for (int step = 0; step < 64; ++step) {
    const double rate = (low + high) / 2;
    double sum = 0;
    for (std::size_t p = 0; p < loads.size(); ++p) sum += share(p, rate);
    (sum > cores ? high : low) = rate;
  }

  std::vector<std::pair<double, std::size_t>> remainders;
  int left = cores;
  for (std::size_t p = 0; p < loads.size(); ++p) {
    const double exact = share(p, low);
    counts[p] = static_cast<int>(exact + 1e-9);
    left -= counts[p];
    if (!loads[p].fixed && counts[p] < most_threads(loads[p], domain_cores))
      remainders.emplace_back(counts[p] - exact, p);
  }
  std::sort(remainders.begin(), remainders.end());
  for (const auto& [remainder, p] : remainders) {
    if (left <= 0 || loads[p].parallel <= 0) continue;
    ++counts[p];
    --left;
  }
  return counts;
}

std::vector<int> optimal_counts_in(const std::vector<int>& domain, const std::vector<int>& capacity,
                                   const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling,
                                   int cores) {
  Allotment counts(domain, capacity, loads, scaling, cores);
  for (std::size_t p = 0; p < loads.size(); ++p) counts.set(p, fewest_threads(loads[p]));
  raise_longest(counts);
  restore(counts, loads);
  return counts.take();
}

std::vector<int> optimal_counts(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, int cores,
                                int domain_cores) {
  std::vector<ProcessLoad> limited = loads;
  for (ProcessLoad& load : limited) load.ceiling = most_threads(load, domain_cores);
  return optimal_counts_in(std::vector<int>(loads.size(), 0), {cores}, limited, scaling, cores);
}

std::vector<int> least_counts(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, double busy,
                              int domain_cores) {
  std::vector<int> counts(loads.size());
  for (std::size_t p = 0; p < loads.size(); ++p) {
    int low = fewest_threads(loads[p]), high = std::max(low, most_threads(loads[p], domain_cores));
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (forecast_busy(loads[p], scaling[p], middle) <= busy * kRounding)
        high = middle;
      else
        low = middle + 1;
    }
    counts[p] = low;
  }
  return counts;
}

}  // namespace steelyard::cores

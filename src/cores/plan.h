#pragma once
#include <string>
#include <vector>

// The planning half of `cores`: pure functions from measured loads to thread counts, places and forecasts.
// No clock, no MPI, no environment. Paper: Rocha Barbosa et al., SABO (IPDRM 2022), section IV.
namespace steelyard::cores {

/// One process over one window of phases, as weighed.
struct ProcessLoad {
  int threads = 1;       ///< cores that it owns now
  double parallel = 0;   ///< thread seconds of useful work inside regions
  double region_wall = 0;///< wall seconds inside regions
  double serial = 0;     ///< wall seconds computing outside regions
  double wait = 0;       ///< wall seconds in blocking MPI calls
  int ceiling = 1 << 20; ///< more threads than this are never given
  bool fixed = false;    ///< its thread count must not change
};

/// How the region time of a process answers to threads: time(n) = time(m) * (m / n)^alpha. 1 is perfect.
struct Scaling {
  double alpha = 1;
};

/// Wall seconds of computing in the window, had the process run with `threads`.
double forecast_busy(const ProcessLoad& load, const Scaling& scaling, int threads);

/// Thread counts for all processes that sum to at most `cores`, at least 1 each, fixed processes unchanged, ceilings kept.
/// `domain_cores` is the largest domain: no process gets more (it may not span domains); 0 for no such limit.
/// The paper's proportional share, adjusted to the sum by largest remainder.
std::vector<int> proportional_counts(const std::vector<ProcessLoad>& loads, int cores, int domain_cores);
/// The integer optimum: minimises max forecast_busy. Ties: fewest changed threads.
std::vector<int> optimal_counts(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, int cores,
                                int domain_cores);

/// Where each process sits.
struct Placement {
  std::vector<int> domain;   ///< by process
  std::vector<int> threads;  ///< by process: what the domain can really give it
  int missing = 0;           ///< cores asked for and not given, the paper's `c`
  int moved = 0;             ///< cores that change owner against `current`
};

/// Branch and bound over domains, exact: least `missing`, then least `moved`. `capacity[d]` cores in domain d;
/// `held[p][d]` cores that process p owns now in domain d. Fixed processes keep their domain where it has room.
/// A process that no single domain can hold (wanted > every capacity) is capped at the largest capacity. More processes
/// than cores is refused by the caller. 64 processes on 2 to 8 domains take under 1 ms.
Placement place(const std::vector<int>& wanted, const std::vector<int>& capacity, const std::vector<std::vector<int>>& held);

/// A whole plan with its forecast.
struct Plan {
  std::vector<int> threads;  ///< by process
  std::vector<int> domain;   ///< by process
  double busy_now = 0;       ///< s, longest process of the window as it was
  double busy_then = 0;      ///< s, longest process of the window as forecast
  int moved = 0;             ///< cores that change owner
  std::string method;        ///< "proportional share" or "integer optimum"
  double gain() const { return busy_now > 0 ? 1 - busy_then / busy_now : 0; }
};

struct NodeShape {
  std::vector<int> capacity;           ///< cores of the job in each domain (socket, NUMA domain or L3 group)
  std::vector<std::vector<int>> held;  ///< by process and domain: cores owned now
  int budget = 0;                      ///< cores to hand out in all: the sum of the threads at start
};

/// Both methods, placed; the better forecast wins, on a tie the fewest cores that change owner.
Plan plan(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, const NodeShape& shape);

}  // namespace steelyard::cores

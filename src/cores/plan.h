// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

// The planning half of `cores`: pure functions from measured loads to thread counts, places and forecasts.
// No clock, no MPI, no environment. Paper: Rocha Barbosa et al., SABO (IPDRM 2022), section IV.
namespace steelyard::cores {

/// One process over one window of steps, as measured.
struct ProcessLoad {
  int threads = 1;         ///< cores that it owns now
  double parallel = 0;     ///< thread seconds of useful work inside regions
  double region_wall = 0;  ///< wall seconds inside regions
  double serial = 0;       ///< wall seconds computing outside regions
  double wait = 0;         ///< wall seconds in blocking MPI calls
  int ceiling = 1 << 20;   ///< more threads than this are never given
  bool fixed = false;      ///< its thread count must not change
  bool in_pool = false;    ///< its ceiling is that of a task pool in which most of its time is spent
};

/// How region time depends on threads: time(n) = time(m) * (m / n)^alpha. 1: perfect scaling, 0: none.
struct Scaling {
  double alpha = 1;
};

/// Wall seconds in regions on its own cores. Borrowed cores make `region_wall` shorter than this, never longer: the
/// thread seconds show what the work would have taken without them.
double region_time(const ProcessLoad& load);
/// Wall seconds of computing in the window as it was, borrowed cores included.
double measured_busy(const ProcessLoad& load);
/// Wall seconds of computing in the window, had the process run with `threads` cores of its own.
double forecast_busy(const ProcessLoad& load, const Scaling& scaling, int threads);

/// Thread counts for all processes that sum to at most `cores`, at least 1 each, fixed processes unchanged, ceilings
/// kept. `domain_cores` is the largest domain: no process gets more (it may not span domains); 0 for no such limit.
/// The paper's proportional share, adjusted to the sum by largest remainder.
std::vector<int> proportional_counts(const std::vector<ProcessLoad>& loads, int cores, int domain_cores);
/// The integer optimum: minimises max forecast_busy. Ties: fewest changed threads.
std::vector<int> optimal_counts(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, int cores,
                                int domain_cores);
/// The same where process p has to live in domain[p], which has capacity[domain[p]] cores.
std::vector<int> optimal_counts_in(const std::vector<int>& domain, const std::vector<int>& capacity,
                                   const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling,
                                   int cores);
/// The fewest threads with which each process stays within `busy` seconds; the largest count allowed where none does.
std::vector<int> least_counts(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, double busy,
                              int domain_cores);

/// Where each process sits.
struct Placement {
  std::vector<int> domain;   ///< by process
  std::vector<int> threads;  ///< by process: what the domain can really give it, at least 1
  int missing = 0;           ///< cores asked for and not given, the paper's `c`
  int moved = 0;             ///< cores that would get a new owner if each process got what it asks for
  bool exact = true;         ///< false where the search was cut short: the best that was found
};

/// Limit of one search, in visited nodes times processes times domains: a plan must not take longer than a region.
inline constexpr int kEffort = 100'000;

/// Branch and bound over domains, exact: least `missing`, then least `moved`. `capacity[d]` cores in domain d;
/// `held[p][d]` cores that process p owns now in domain d. A process that no single domain can hold is cut down to the
/// largest. Needs at least as many cores as processes. `effort` bounds the nodes visited: packing is NP-hard.
Placement place(const std::vector<int>& wanted, const std::vector<int>& capacity,
                const std::vector<std::vector<int>>& held, int effort = 4000);

/// A whole plan with its forecast.
struct Plan {
  std::vector<int> threads;  ///< by process
  std::vector<int> domain;   ///< by process; of joined domains, the first; -1: where it is now
  double busy_now = 0;       ///< s, longest process of the window as it was, borrowed cores included
  double busy_then = 0;      ///< s, longest process of the window as forecast, on its own cores
  int moved = 0;             ///< cores that change owner; 0: everything stays as it is
  std::string method;        ///< "proportional share", "integer optimum" or "as it is"
  double gain() const { return busy_now > 0 ? 1 - busy_then / busy_now : 0; }
};

struct NodeShape {
  std::vector<int> capacity;           ///< cores of the job in each domain (socket, NUMA domain or L3 group)
  std::vector<std::vector<int>> held;  ///< by process and domain: cores owned now
  int budget = 0;                      ///< cores to hand out in all: the sum of the threads at start
  bool openmp = true;                  ///< a process has loaded an OpenMP runtime
};

/// Domains that some process spans are one domain to the planner: squeezing that process into one of them would take
/// cores away that the user gave it. By domain: the first domain that it is joined with (itself, where alone).
/// A core of domain c may be given to process p where joined_domains(shape)[c] == plan.domain[p].
std::vector<int> joined_domains(const NodeShape& shape);

/// A node with its joined domains merged.
struct JoinedShape {
  std::vector<int> name;               ///< by domain here: its number in the NodeShape
  std::vector<int> capacity;           ///< by domain here
  std::vector<std::vector<int>> held;  ///< by process and domain here
};
JoinedShape joined(const NodeShape& shape);

/// The plan with the better forecast: proportional share or integer optimum, each placed in the domains, with left-over
/// cores handed out there. Fixed processes stay where they are. Of forecasts closer than half a per cent, the plan that
/// moves fewest cores wins: a process leaves its memory on another socket only for a gain that can be measured.
/// If no plan is better than the present one, and on input that allows no plan, no core moves.
Plan plan(const std::vector<ProcessLoad>& loads, const std::vector<Scaling>& scaling, const NodeShape& shape);

/// The loads with at least one thread each, and 0 for times that are negative or not finite.
std::vector<ProcessLoad> cleaned(std::vector<ProcessLoad> loads);

}  // namespace steelyard::cores

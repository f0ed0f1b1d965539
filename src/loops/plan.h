// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/strategy.h"
#include "decide/settings.h"
#include "loops/profile.h"

// The planning half of `loops`: pure functions from what was measured of a loop to how its next execution is divided.
// No clock, no environment. Papers: Kale, "Composing Low-Overhead Scheduling Strategies" (2015); Kale and Gropp, "Load
// Balancing for Regular Meshes on SMPs with MPI" (EuroMPI 2010).
namespace steelyard::loops {

// The strategies and their names: base/strategy.h.
using base::kStrategies;
using base::Strategy;
using base::strategy_names;

std::string_view name_of(Strategy strategy);
/// Failure: a sentence with the nearest name and all combinations.
base::Status parse_strategy(std::string_view name, Strategy& strategy);

// What a strategy is made of. Any combination is a strategy.
enum class Partition { even, adaptive };             ///< how the loop is divided into a part for each thread
enum class Fraction { none, all, given, modelled };  ///< how much of each part is static
enum class Order { own, pool };                      ///< where the dynamic part lies: beside its owner, or in one pool
enum class ChunkRule { fixed, guided, factoring };   ///< how large a chunk is
enum class Steal { none, chunk, half };              ///< what an idle thread takes from another

struct Composition {
  Partition partition = Partition::even;
  Fraction fraction = Fraction::none;
  bool slack = false;  ///< the fraction leaves to the next collective what it would wait for anyway
  Order order = Order::own;
  ChunkRule rule = ChunkRule::fixed;
  Steal steal = Steal::half;
  bool operator==(const Composition&) const = default;
};
/// `automatic` is composed as `steal`, with which it starts.
Composition compose(Strategy strategy);

/// What a user has set; the defaults leave all to measurement.
struct Settings {
  Strategy strategy = Strategy::automatic;
  double fraction = 0.9;           ///< 0..1: static part, for hybrid without tuned
  std::uint64_t chunk = 0;         ///< iterations a chunk, at least; 0: by measurement
  decide::Settings decision = {};  ///< of `automatic`
};
/// Failure where the fraction is outside of 0..1 or no number.
base::Status check(const Settings& settings);

struct Shape {
  std::uint64_t count = 0;
  int threads = 1;
  bool operator==(const Shape&) const = default;
};

/// What plans are made of. All of it is measured; zero means "not known".
struct Measured {
  double iteration_ns = 0;  ///< mean cost of an iteration, on the thread whose part it is in
  double stolen_ns = 0;     ///< the same on another thread
  double spread_ns = 0;     ///< d_max - d_avg of fraction.h: what the slowest thread would end later than the mean
  double slack_ns = 0;      ///< this process's last wait in the next collective
  Profile profile;          ///< cost by place in the loop; of all loops tied to this one
  std::vector<double> boundaries;  ///< of the threads' parts at present, as fractions of the loop; empty: even
};

/// How one execution is divided. Thread t owns the part [boundaries[t], boundaries[t + 1]) of the iterations: the first
/// ones are static, the rest is dynamic. With a pool, the dynamic iterations of all threads lie together at the end of
/// the loop, and the parts divide what is before them.
struct Plan {
  Shape shape;
  Strategy strategy = Strategy::even;
  std::vector<std::uint64_t> boundaries;  ///< of the threads' parts, threads + 1
  double static_fraction = 1;             ///< of each part; with a pool all of it is static
  std::uint64_t pool = 0;                 ///< iterations from here on are in the pool; shape.count where there is none
  std::uint64_t chunk = 1;                ///< iterations at a time, at least
  ChunkRule rule = ChunkRule::fixed;
  Steal steal = Steal::none;
  /// The first dynamic iteration of a thread's part; the end of the part if it has none.
  std::uint64_t dynamic_begin(int thread) const;
  bool operator==(const Plan&) const = default;
};

/// Fills `plan` anew, into the memory that it has. Never fails: what makes no sense counts as not known.
void make_plan(const Shape& shape, const Composition& composition, const Settings& settings, const Measured& measured,
               Plan& plan);
Plan make_plan(const Shape& shape, const Settings& settings, const Measured& measured);

/// ns, to take a chunk and to restart the loop body. `bench/loops.py --only chunk` measures 14 to 18 ns for taking it;
/// the rest is for the body.
inline constexpr double kChunkCost = 40;

/// ns by which threads of a team begin and end apart in any case. A smaller difference between two plans is not seen,
/// and smaller chunks of guided and factoring level nothing.
inline constexpr double kNegligible = 1000;

/// Iterations per chunk for a thread with `ns` of work. Taking chunks of c ns costs kChunkCost * ns / c, and the other
/// threads wait for the last chunk, c / 2 on average. The sum is least at c = sqrt(2 * kChunkCost * ns).
std::uint64_t best_chunk(double ns, double iteration_ns, std::uint64_t iterations);

}  // namespace steelyard::loops

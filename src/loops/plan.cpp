// SPDX-License-Identifier: BSD-3-Clause
#include "loops/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "loops/fraction.h"

namespace steelyard::loops {
namespace {

/// As long as nothing is known: the chunks that a thread's part is cut into.
constexpr std::uint64_t kPieces = 64;

/// The nearest to count * fraction, exact at both ends.
std::uint64_t part_of(std::uint64_t count, double fraction) {
  if (!(fraction > 0)) return 0;
  if (fraction >= 1) return count;
  return std::min(count, static_cast<std::uint64_t>(std::round(static_cast<long double>(count) * fraction)));
}

double finite(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

/// Iterations per chunk for a thread with `share` dynamic iterations.
std::uint64_t fixed_chunk(std::uint64_t share, const Settings& settings, const Measured& measured) {
  if (settings.chunk > 0) return settings.chunk;
  const double ns = finite(measured.iteration_ns);
  return best_chunk(ns * static_cast<double>(share), ns, share);
}

/// f_d of the model. q of fraction.h: what another thread's iterations cost more, and this iteration's part of taking a
/// chunk. The chunk follows from the dynamic fraction, here the one without the cost of taking it.
double modelled(const Shape& shape, const Settings& settings, const Measured& measured) {
  const double penalty = std::max(0.0, measured.stolen_ns - measured.iteration_ns);
  const auto fraction = [&](double q) {
    return dynamic_fraction(static_cast<double>(shape.count), shape.threads, measured.iteration_ns, q,
                            measured.spread_ns);
  };
  const std::uint64_t share = part_of(shape.count, fraction(penalty)) / static_cast<std::uint64_t>(shape.threads);
  return fraction(penalty + kChunkCost / static_cast<double>(fixed_chunk(share, settings, measured)));
}

double fraction_of(const Composition& composition, const Shape& shape, const Settings& settings,
                   const Measured& measured) {
  if (composition.fraction == Fraction::none) return 0;
  if (composition.fraction == Fraction::all) return 1;
  const double given = std::min(1.0, finite(settings.fraction));
  if (!(measured.iteration_ns > 0)) return given;
  const bool tuned = composition.fraction == Fraction::modelled;
  const double dynamic = tuned ? modelled(shape, settings, measured) : 1 - given;
  if (!composition.slack) return tuned ? 1 - dynamic : given;
  return 1 -
         less_slack(dynamic, static_cast<double>(shape.count), shape.threads, measured.iteration_ns, measured.slack_ns);
}

std::uint64_t chunk_of(const Plan& plan, const Settings& settings, const Measured& measured) {
  if (settings.chunk > 0) return settings.chunk;
  const double ns = finite(measured.iteration_ns);
  if (plan.rule != ChunkRule::fixed) return ns > 0 ? std::max(1.0, std::ceil(kNegligible / ns)) : 1;
  const auto threads = static_cast<std::uint64_t>(plan.shape.threads);
  const std::uint64_t dynamic =
      plan.pool < plan.shape.count ? plan.shape.count - plan.pool : part_of(plan.shape.count, 1 - plan.static_fraction);
  return fixed_chunk(dynamic / threads, settings, measured);
}

}  // namespace

std::string_view name_of(Strategy strategy) { return strategy_names()[static_cast<std::size_t>(strategy)]; }

base::Status parse_strategy(std::string_view name, Strategy& strategy) {
  const int index = base::index_of(name, strategy_names(), base::short_strategy_names());
  if (index < 0) {
    const auto meant = base::did_you_mean(name, strategy_names(), base::short_strategy_names());
    return base::Status::failure(base::Code::invalid_argument,
                                 fmt::format("unknown strategy '{}'{}: it must be one of {}", name, meant,
                                             fmt::join(base::strategy_grammar(), ", ")));
  }
  strategy = static_cast<Strategy>(index);
  return {};
}

Composition compose(Strategy strategy) {
  switch (strategy) {
    case Strategy::even: return {.fraction = Fraction::all, .steal = Steal::none};
    case Strategy::guided: return {.order = Order::pool, .rule = ChunkRule::guided, .steal = Steal::none};
    case Strategy::factoring: return {.order = Order::pool, .rule = ChunkRule::factoring, .steal = Steal::none};
    case Strategy::adaptive: return {.partition = Partition::adaptive};
    case Strategy::automatic:
    case Strategy::steal:
    case Strategy::off: return {};
    default: break;  // hybrid
  }
  const bool staggered = has(strategy, base::Modifier::staggered);
  return {.fraction = has(strategy, base::Modifier::tuned) ? Fraction::modelled : Fraction::given,
          .slack = has(strategy, base::Modifier::slack),
          .order = staggered ? Order::own : Order::pool,
          .steal = staggered ? Steal::chunk : Steal::none};
}

base::Status check(const Settings& settings) {
  if (settings.fraction >= 0 && settings.fraction <= 1) return {};
  return base::Status::failure(
      base::Code::invalid_argument,
      fmt::format("the static fraction is {}: it must be from 0 (all dynamic) to 1 (all static)", settings.fraction));
}

std::uint64_t Plan::dynamic_begin(int thread) const {
  const auto t = static_cast<std::size_t>(thread);
  if (pool < shape.count) return boundaries[t + 1];
  return boundaries[t] + part_of(boundaries[t + 1] - boundaries[t], static_fraction);
}

std::uint64_t best_chunk(double ns, double iteration_ns, std::uint64_t iterations) {
  if (!(ns > 0) || !(iteration_ns > 0)) return std::max<std::uint64_t>(1, iterations / kPieces);
  const double best = std::sqrt(2 * kChunkCost * ns) / iteration_ns;
  const std::uint64_t most = std::max<std::uint64_t>(1, iterations / 4);
  if (!(best < static_cast<double>(most))) return most;
  // A power of two, so that a plan does not change with each measurement.
  return std::bit_ceil(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(best / 1.4)));
}

void make_plan(const Shape& shape, const Composition& composition, const Settings& settings, const Measured& measured,
               Plan& plan) {
  const auto threads = static_cast<std::size_t>(std::max(1, shape.threads));
  plan.shape = {shape.count, static_cast<int>(threads)};
  plan.strategy = settings.strategy;
  plan.rule = composition.rule;
  plan.steal = composition.steal;
  plan.static_fraction = fraction_of(composition, plan.shape, settings, measured);
  plan.pool = composition.order == Order::pool ? part_of(shape.count, plan.static_fraction) : shape.count;
  const bool follow = composition.partition == Partition::adaptive && measured.boundaries.size() == threads + 1;
  plan.boundaries.resize(threads + 1);
  plan.boundaries[0] = 0;
  for (std::size_t t = 1; t < threads; ++t) {
    // Even parts differ by one at most.
    const std::uint64_t even = plan.pool / threads * t + plan.pool % threads * t / threads;
    plan.boundaries[t] = std::max(plan.boundaries[t - 1], follow ? part_of(plan.pool, measured.boundaries[t]) : even);
  }
  plan.boundaries[threads] = plan.pool;
  plan.chunk = chunk_of(plan, settings, measured);
}

Plan make_plan(const Shape& shape, const Settings& settings, const Measured& measured) {
  Plan plan;
  make_plan(shape, compose(settings.strategy), settings, measured, plan);
  return plan;
}

}  // namespace steelyard::loops

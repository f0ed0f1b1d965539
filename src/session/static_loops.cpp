// SPDX-License-Identifier: BSD-3-Clause
#include "session/static_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>

#include "base/clock.h"
#include "base/options.h"
#include "loops/registry.h"
#include "loops/static_parts.h"
#include "session/growing_list.h"

namespace steelyard::session {

/// A loop with as many iterations as the others of its Equal.
struct StaticLoop {
  struct alignas(64) Thread {
    std::int64_t ns = 0;  ///< in this execution of the region; 0: it did not come by, or did not come to the end
  };
  StaticLoop(std::uint64_t its_site, int count, StaticLoop* others)
      : site(its_site), threads(static_cast<std::size_t>(count)), next(others) {}
  const std::uint64_t site;
  std::vector<Thread> threads;
  long executions = 0;  ///< of the region, with this loop
  double ns = 0;        ///< of the slowest thread in all of them
  double idle = 0;      ///< share of the threads' time that they were done earlier than the slowest, lately
  StaticLoop* const next;
};

/// The loops of a region with one iteration count, executed by one number of threads.
struct Equal {
  Equal(std::uint64_t count, int its_threads, Equal* others)
      : iterations(count), threads(its_threads), parts(its_threads, base::options().decision()), next(others) {}
  const std::uint64_t iterations;
  const int threads;
  loops::StaticParts parts;
  std::atomic<StaticLoop*> loops = nullptr;
  Equal* const next;
};

struct StaticLoops {
  std::atomic<Equal*> equals = nullptr;
};

namespace {

bool g_on = false;

/// Never destroyed: threads may be in regions while the process exits.
struct Shared {
  std::mutex mutex;
  std::map<std::uint64_t, StaticLoops> regions;
};
Shared& shared() {
  static Shared& only = *new Shared;
  return only;
}

std::uint64_t at(double fraction, std::uint64_t iterations) {
  const double place = std::round(fraction * static_cast<double>(iterations));
  return place >= static_cast<double>(iterations) ? iterations : static_cast<std::uint64_t>(place);
}

// What the threads needed in this execution of the region. Loops that it did not come to say nothing; where a thread
// has not come to the end of its part, it was cancelled.
void take_up(Equal& equal) {
  std::vector<double> ns(static_cast<std::size_t>(equal.threads), 0.0);
  double slowest_of_all = 0;
  for (StaticLoop* loop = equal.loops.load(std::memory_order_relaxed); loop != nullptr; loop = loop->next) {
    double slowest = 0, busy = 0;
    for (std::size_t t = 0; t < ns.size(); ++t) {
      const auto spent = static_cast<double>(std::exchange(loop->threads[t].ns, 0));
      ns[t] += spent;
      busy += spent;
      slowest = std::max(slowest, spent);
    }
    if (slowest == 0) continue;
    ++loop->executions;
    loop->ns += slowest;
    loop->idle +=
        (1 - busy / (slowest * equal.threads) - loop->idle) / static_cast<double>(std::min(loop->executions, 8L));
    slowest_of_all += slowest;
  }
  if (std::ranges::none_of(ns, [](double spent) { return spent == 0; })) equal.parts.executed(ns, slowest_of_all);
}

std::string described(const loops::StaticParts& parts) {
  if (parts.decided_even()) {
    return parts.trying() ? "even parts: the run ended before a trial of other parts was decided"
                          : "even parts: no others were expected or measured to be faster";
  }
  const std::vector<double>& boundaries = parts.decided();
  double least = 1, most = 0;
  for (std::size_t i = 1; i < boundaries.size(); ++i) {
    least = std::min(least, boundaries[i] - boundaries[i - 1]);
    most = std::max(most, boundaries[i] - boundaries[i - 1]);
  }
  const auto threads = static_cast<double>(boundaries.size() - 1);
  return fmt::format(
      "static, with parts of {:.2f} to {:.2f} times the even part, by the times that threads needed: {:.0f} % faster",
      least * threads, most * threads, 100 * parts.gain());
}

}  // namespace

void rebalance_static_loops() {
  const base::Options& options = base::options();
  g_on = options.loops_rebalance_static && !options.observe && options.loops != base::Loops::off;
}

StaticLoops* static_loops_of(std::uint64_t region) {
  if (!g_on) return nullptr;
  const std::lock_guard lock(shared().mutex);
  return &shared().regions[region];
}

void static_loops_end(StaticLoops* loops) {
  if (loops == nullptr) return;
  for (Equal* equal = loops->equals.load(std::memory_order_relaxed); equal != nullptr; equal = equal->next) {
    take_up(*equal);
  }
}

bool static_loop_begun(Place& here, std::uint64_t site, std::uint64_t iterations, Part& part) {
  if (here.region == nullptr || here.region->static_loops == nullptr) return false;
  const int threads = here.threads;
  if (threads < 2 || iterations < static_cast<std::uint64_t>(threads)) return false;
  Equal& equal = found_or_made(
      here.region->static_loops->equals, shared().mutex,
      [&](const Equal& its) { return its.iterations == iterations && its.threads == threads; },
      [&](Equal* others) { return new Equal(iterations, threads, others); });
  StaticLoop& loop = found_or_made(
      equal.loops, shared().mutex, [&](const StaticLoop& its) { return its.site == site; },
      [&](StaticLoop* others) { return new StaticLoop(site, threads, others); });
  const auto me = static_cast<std::size_t>(here.thread);
  part = {at(equal.parts.boundaries()[me], iterations), at(equal.parts.boundaries()[me + 1], iterations)};
  here.static_ns = &loop.threads[me].ns;
  here.static_since = base::now_ns();
  return true;
}

void static_loop_ended(Place& here) {
  if (here.static_ns == nullptr) return;
  *here.static_ns += std::max<std::int64_t>(1, base::now_ns() - here.static_since);
  here.static_ns = nullptr;
}

bool static_loops_seen() {
  const std::lock_guard lock(shared().mutex);
  return std::ranges::any_of(shared().regions,
                             [](const auto& region) { return region.second.equals.load() != nullptr; });
}

void add_static_loop_records(std::vector<observe::LoopRecord>& records) {
  // Of a loop with several iteration counts, what is said is that of the one that took longest.
  struct Sum {
    observe::LoopRecord record;
    double longest = -1;
  };
  std::map<std::uint64_t, Sum> by_site;
  const auto add = [&](const Equal& equal, const StaticLoop& loop) {
    if (loop.executions == 0) return;
    Sum& sum = by_site[loop.site];
    observe::LoopRecord& record = sum.record;
    record.executions += loop.executions;
    record.iterations +=
        static_cast<long>(std::min(static_cast<double>(loop.executions) * static_cast<double>(equal.iterations), 1e18));
    record.time += loop.ns * 1e-9;
    if (loop.ns <= sum.longest) return;
    sum.longest = loop.ns;
    record.threads = equal.threads;
    record.strategy = equal.parts.decided_even() ? "static" : "reweighed";
    record.why = described(equal.parts);
    record.idle = loop.idle;
  };
  const std::lock_guard lock(shared().mutex);
  for (const auto& [address, region] : shared().regions) {
    for (const Equal* equal = region.equals.load(); equal != nullptr; equal = equal->next) {
      for (const StaticLoop* loop = equal->loops.load(); loop != nullptr; loop = loop->next) add(*equal, *loop);
    }
  }
  for (auto& [site, sum] : by_site) {
    sum.record.site = loops::site_name(site);
    records.push_back(std::move(sum.record));
  }
}

}  // namespace steelyard::session

// SPDX-License-Identifier: BSD-3-Clause
#include "phases/phase.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "phases/hold.h"

namespace steelyard::phases {
namespace {

/// The cores that the processes of a context have at a resource.
int cores_at(const Context& context, Resource resource, int index) {
  const Machine& machine = context.machine();
  return machine.cores(machine.cpus(resource, index) & context.job());
}

/// Threads of a chosen process: the cores of its resource, shared with the others that are chosen there.
int threads_for(const Context& context, const Distribution& distribution, Resource resource, int process) {
  const int index = distribution.resource[static_cast<std::size_t>(process)];
  int sharing = 0, place = 0;
  for (const int chosen : distribution.chosen()) {
    if (distribution.resource[static_cast<std::size_t>(chosen)] != index) continue;
    if (chosen == process) place = sharing;
    ++sharing;
  }
  return threads_of(cores_at(context, resource, index), sharing, place);
}

/// Each of them, then with half of its threads, a quarter, and so on.
std::vector<Configuration> with_fewer_threads(const std::vector<Configuration>& configurations, int min_threads) {
  std::vector<Configuration> all;
  for (Configuration configuration : configurations) {
    all.push_back(configuration);
    for (int threads = configuration.threads / 2; threads >= min_threads; threads /= 2) {
      configuration.threads = threads;
      all.push_back(configuration);
    }
  }
  return all;
}

std::vector<Phase*> entered_phases;  // of this process

}  // namespace

std::vector<Configuration> configurations_between(const Context& context, const Bounds& bounds) {
  std::vector<Configuration> configurations;
  const int limit = bounds.max_processes > 0 ? bounds.max_processes : context.size();
  for (const Resource resource : {Resource::machine, Resource::package, Resource::numa, Resource::l3, Resource::core}) {
    if (!context.machine().has(resource)) continue;
    for (int per_resource = 1; per_resource <= context.size(); per_resource *= 2) {
      const Distribution distribution = context.distribute(resource, per_resource);
      const std::vector<int> chosen = distribution.chosen();
      Configuration configuration{resource, per_resource, static_cast<int>(chosen.size()), 1};
      for (const int process : chosen) {
        configuration.threads = std::max(configuration.threads, threads_for(context, distribution, resource, process));
      }
      if (bounds.max_threads > 0) configuration.threads = std::min(configuration.threads, bounds.max_threads);
      if (configuration.processes < bounds.min_processes || configuration.processes > limit) continue;
      // Of those that come to as many processes, the one that uses more cores; else the nearer to the cores, which
      // keeps more of the locality.
      const auto same = std::ranges::find(configurations, configuration.processes, &Configuration::processes);
      if (same == configurations.end()) {
        configurations.push_back(configuration);
      } else if (configuration.threads >= same->threads) {
        *same = configuration;
      }
    }
  }
  std::ranges::stable_sort(configurations, std::ranges::greater{}, &Configuration::processes);
  return bounds.min_threads > 0 ? with_fewer_threads(configurations, bounds.min_threads) : configurations;
}

Phase::Phase(std::shared_ptr<Context> context, Resource resource, int max_processes) : context_(std::move(context)) {
  take({context_->settle(resource), max_processes, 0, 0});
  account_ = &Account::open(context_->size(), context_->me(), false, {run_.configuration});
  scattered_ = run_;
}

Phase::Phase(std::shared_ptr<Context> context, const std::vector<Configuration>& configurations)
    : context_(std::move(context)), account_(&Account::open(context_->size(), context_->me(), true, configurations)) {
  contest().emplace(static_cast<int>(configurations.size()), context_->decision());
  take(configurations.front());
  scattered_ = run_;
}

void Phase::take(const Configuration& configuration) {
  const bool limited = configuration.threads > 0;
  run_.configuration = configuration;
  run_.distribution = context_->distribute(configuration.resource, configuration.max_per_resource);
  const int leader = run_.distribution.leader[static_cast<std::size_t>(context_->me())];
  run_.threads = threads_for(*context_, run_.distribution, configuration.resource, leader);
  if (limited) run_.threads = std::min(run_.threads, configuration.threads);
  run_.configuration.processes = static_cast<int>(run_.distribution.chosen().size());
  if (!limited) run_.configuration.threads = run_.threads;
}

Phase::~Phase() {
  if (entered_) leave_late("it was freed");
  account_->close();
}

void Phase::leave_all(const char* when) {
  while (!entered_phases.empty()) entered_phases.back()->leave_late(when);
}

void Phase::leave_late(const char* when) {
  base::warn(
      fmt::format("a phase was entered and not left when {}: it is left now; call steelyard_phase_leave() in every "
                  "process, chosen or "
                  "not",
                  when));
  if (const base::Status left = leave(); !left) base::warn(left.sentence());
}

base::Status Phase::enter(bool& is_chosen) {
  is_chosen = false;
  if (base::Status free = context_->outside("a phase is entered"); !free) return free;
  if (!gathered_) scattered_ = run_;
  Rendezvous& rendezvous = context_->rendezvous();
  begin_ = rendezvous.turn();
  const Call call{Call::Kind::enter, what(run_)};
  // Before the chosen processes start: they use the cores of the others.
  Hold::begin();
  if (base::Status all = chosen() ? rendezvous.meet(call, Rendezvous::Wait::brief) : rendezvous.arrive(call); !all) {
    Hold::end();
    return all;
  }
  entered_ = context_->in_phase = true;
  entered_phases.push_back(this);
  pushed_ = false;
  depth_ = context_->phase_depth = BindingStack::of_this_process().depth(context_.get());
  if (!chosen()) return {};
  is_chosen = true;
  const int index = run_.distribution.resource[static_cast<std::size_t>(context_->me())];
  const base::Status pushed = context_->push(context_->machine().cpus(run_.configuration.resource, index), threads());
  pushed_ = static_cast<bool>(pushed);
  context_->phase_depth += pushed_ ? 1 : 0;
  // A phase on fewer cores is slow, but right.
  if (!pushed_) base::warn_once(pushed.sentence());
  return {};
}

base::Status Phase::leave() {
  if (!entered_) {
    return base::Status::failure(
        base::Code::invalid_state,
        "a phase is left that was not entered: call steelyard_phase_enter() first, in every process");
  }
  // Whatever went wrong inside, the others are not kept waiting.
  base::Status done = unwind();
  Rendezvous& rendezvous = context_->rendezvous();
  const std::uint64_t end = rendezvous.turn();
  base::Status left = rendezvous.leave({Call::Kind::leave, what(run_)},
                                       chosen() ? Rendezvous::Wait::brief : Rendezvous::Wait::asleep, begin_);
  entered_ = context_->in_phase = false;
  std::erase(entered_phases, this);
  // The same two times everywhere: no process comes to either gate again before all have gone through this one.
  const std::int64_t length = left ? rendezvous.opened_at(end) - rendezvous.opened_at(begin_) : 0;
  Hold::had_phase(length);
  Hold::end();
  if (!left) return left;
  account_->ran(length);
  if (contest()) {
    contest()->measured(1e-9 * static_cast<double>(length));
    const Configuration& next = account_->configurations()[static_cast<std::size_t>(contest()->next())];
    if (next != run_.configuration) take(next);
  }
  return done;
}

std::uint32_t Phase::what(const Run& run) const {
  const auto bits = [](int value, int width) { return static_cast<std::uint32_t>(value) & ((1U << width) - 1); };
  // Threads only where they were agreed on: elsewhere each has those of the process that works for it.
  return bits(static_cast<int>(run.configuration.resource), 3) | (contest() ? 1U : 0U) << 3 |
         bits(run.configuration.max_per_resource, 10) << 4 | bits(contest() ? run.configuration.threads : 0, 10) << 14;
}

base::Status Phase::unwind() {
  const BindingStack& stack = BindingStack::of_this_process();
  const int extra = stack.depth(context_.get()) - context_->phase_depth;
  context_->phase_depth = 0;
  while (stack.depth(context_.get()) > depth_) {
    if (base::Status popped = context_->pop(); !popped) return popped;
  }
  if (extra <= 0) return {};
  return base::Status::failure(
      base::Code::invalid_state,
      fmt::format("{} that this phase did not pop: popped now that it is left",
                  extra == 1 ? "a binding was pushed in a phase" : "bindings were pushed in a phase"));
}

base::Status Phase::gather(const void* mine, std::size_t bytes, View& all) {
  all = {};
  if (base::Status free = context_->outside("data are gathered"); !free) return free;
  scattered_ = run_;
  gathered_ = true;
  return context_->exchange().gather(run_.distribution, what(run_), mine, bytes, all);
}

base::Status Phase::scatter(const void* from, std::span<const std::size_t> bytes, View& mine) {
  mine = {};
  if (base::Status free = context_->outside("data are scattered"); !free) return free;
  const std::size_t members = members_of_scatter();
  if (bytes.size() != members) {
    return base::Status::failure(
        base::Code::invalid_argument,
        fmt::format("data are scattered to {} processes by a process that works for {}", bytes.size(), members));
  }
  return context_->exchange().scatter(scattered_.distribution, what(scattered_), from, bytes, mine);
}

}  // namespace steelyard::phases

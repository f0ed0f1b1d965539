// SPDX-License-Identifier: BSD-3-Clause
#include "loops/registry.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/address_cache.h"
#include "base/log.h"
#include "base/options.h"
#include "loops/replay.h"
#include "loops/store.h"

namespace steelyard::loops {

struct Registry::State {
  mutable std::mutex mutex;
  Settings defaults;
  std::map<std::string, std::unique_ptr<Loop>, std::less<>> by_key;
  std::unordered_map<std::uint64_t, Loop*> by_address;
  std::map<std::string, Stored, std::less<>> learnt, replayed;
  bool record = false, replays = false;
  std::atomic<Loop*> latest = nullptr;
  std::atomic<bool> slack = false;
  std::atomic<bool> waits_unmeasured = !base::options().launched;

  void warn_of_unmeasured_waits() const {
    if (!slack.load() || !waits_unmeasured.load()) return;
    base::warn_once(
        "loops with a strategy of slack are divided as if this process never waited: its waits are known only in "
        "programs with MPI under `steelyard run`; start it so, or use a strategy without slack");
  }

  // With the mutex held.
  Loop& named(std::string_view name) {
    const std::string key = storable(name);
    if (const auto known = by_key.find(key); known != by_key.end()) return *known->second;
    auto made = std::make_unique<Loop>(key, defaults);
    if (const auto stored = learnt.find(key); stored != learnt.end()) teach(*made, stored->second);
    if (const auto stored = replayed.find(key); stored != replayed.end()) repeat(*made, stored->second);
    made->record_assignments(record);
    return *by_key.emplace(key, std::move(made)).first->second;
  }
  static void teach(Loop& loop, const Stored& stored) {
    for (const Loop::Regime& regime : stored.regimes) loop.restore(regime);
    for (const Assignment& assignment : stored.assignments) loop.remember(assignment);
  }
  static void repeat(Loop& loop, const Stored& stored) {
    // Complete, as the file was checked when it was read.
    for (const Assignment& assignment : stored.assignments) (void)loop.replay(assignment);
  }
};

std::string site_name(std::uint64_t address) {
  Dl_info found{};
  // The return address may lie behind the end of its function, never in front of the call.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it is only looked up.
  if (dladdr(reinterpret_cast<void*>(address - 1), &found) == 0 || found.dli_fname == nullptr)
    return fmt::format("{:#x}", address);
  const std::string_view path = found.dli_fname;
  return fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1),
                     address - reinterpret_cast<std::uint64_t>(found.dli_fbase));
}

Registry::Registry() : state_(std::make_unique<State>()) {}

void Registry::set_defaults(const Settings& settings) {
  if (compose(settings.strategy).slack) want_slack();
  const std::lock_guard lock(state_->mutex);
  state_->defaults = settings;
}

void Registry::want_slack() {
  if (!state_->slack.exchange(true)) state_->warn_of_unmeasured_waits();
}

void Registry::waits_are_not_reported() {
  if (!state_->waits_unmeasured.exchange(true)) state_->warn_of_unmeasured_waits();
}

bool Registry::wants_slack() const { return state_->slack.load(std::memory_order_relaxed); }

Settings Registry::defaults() const {
  const std::lock_guard lock(state_->mutex);
  return state_->defaults;
}

Loop& Registry::at(std::uint64_t address) {
  static constinit thread_local base::AddressCache<Loop> known;
  return known.at(address, [&]() -> Loop& {
    const std::lock_guard lock(state_->mutex);
    Loop*& loop = state_->by_address[address];
    if (loop == nullptr) loop = &state_->named(site_name(address));
    return *loop;
  });
}

Loop& Registry::named(std::string_view key) {
  const std::lock_guard lock(state_->mutex);
  return state_->named(key);
}

std::vector<Loop*> Registry::all() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<Loop*> loops;
  for (const auto& [key, loop] : state_->by_key) loops.push_back(loop.get());
  return loops;
}

base::Status Registry::load(const std::string& path) {
  std::vector<Stored> stored;
  if (base::Status status = read_file(path, stored); !status) return status;
  const std::lock_guard lock(state_->mutex);
  for (Stored& loop : stored) {
    if (const auto known = state_->by_key.find(loop.key); known != state_->by_key.end())
      State::teach(*known->second, loop);
    state_->learnt[loop.key] = std::move(loop);
  }
  return {};
}

base::Status Registry::save(const std::string& path) const {
  std::vector<const Loop*> loops;
  std::vector<Stored> there;
  (void)read_file(path, there);  // mostly there is none yet
  {
    // What others have learnt of loops that this process has not met, or not in this way, stays: an earlier run, or a
    // library of this process that has loops for itself.
    const std::lock_guard lock(state_->mutex);
    for (const auto& [key, stored] : state_->learnt) state_->named(key);
    for (const Stored& stored : there) State::teach(state_->named(stored.key), stored);
  }
  for (const Loop* loop : all()) loops.push_back(loop);
  return write_file(path, loops);
}

base::Status Registry::replay(const std::string& path) {
  std::vector<Stored> stored;
  if (base::Status status = read_file(path, stored); !status) return status;
  const std::lock_guard lock(state_->mutex);
  state_->replays = true;
  for (Stored& loop : stored) {
    if (const auto known = state_->by_key.find(loop.key); known != state_->by_key.end())
      State::repeat(*known->second, loop);
    state_->replayed[loop.key] = std::move(loop);
  }
  return {};
}

std::string Registry::left_out_of_replay() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->replays) return {};
  std::vector<std::string> recorded;
  for (const auto& [key, stored] : state_->replayed) {
    if (!stored.assignments.empty()) recorded.push_back(key);
  }
  std::vector<Executed> executed;
  for (const auto& [key, loop] : state_->by_key) {
    if (const Loop::Repeats repeats = loop->repeats(); repeats.executions > 0) executed.push_back({key, repeats});
  }
  return left_out(recorded, executed);
}

void Registry::record_assignments(bool on) {
  const std::lock_guard lock(state_->mutex);
  state_->record = on;
  for (const auto& [key, loop] : state_->by_key) loop->record_assignments(on);
}

void Registry::executed(Loop& loop) {
  // Mostly the same again, and then nothing is written.
  if (state_->latest.load(std::memory_order_relaxed) != &loop) state_->latest.store(&loop, std::memory_order_relaxed);
}

void Registry::waited(std::int64_t ns) {
  // What follows another collective is not the loop's.
  if (state_->latest.load(std::memory_order_relaxed) == nullptr) return;
  if (Loop* const loop = state_->latest.exchange(nullptr, std::memory_order_relaxed); loop != nullptr)
    loop->set_slack(ns);
}

Registry& registry() {
  static Registry& only = *new Registry;
  return only;
}

}  // namespace steelyard::loops

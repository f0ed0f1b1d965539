#include "tasks/ending.h"

#include <algorithm>

namespace steelyard::tasks {
namespace {

// The word of a node: the wave that is being gathered, and the verdict on the one before.
std::uint64_t pack(std::uint64_t wave, Waves::Verdict verdict) {
  return wave << 2 | static_cast<std::uint64_t>(verdict);
}

// While tasks are under way, waves follow each other ever more slowly.
constexpr std::int64_t kFirstPace = 5'000, kLastPace = 200'000;

}  // namespace

std::optional<Waves::Verdict> Ending::step(std::uint64_t run, bool idle, std::int64_t now) {
  NodeBlock& node = arena_.node();
  const std::uint64_t word = node.wave.load(std::memory_order_acquire);
  const std::uint64_t wave = word >> 2;
  if (wave != seen_) {
    const auto verdict = static_cast<Waves::Verdict>(word & 3);
    for (const int child : duties_.children) voice_.verdict(child, wave, verdict, leaver());
    seen_ = wave;
    if (verdict != Waves::Verdict::again) {
      pace_ = 0;
      return verdict;
    }
  }
  if (!duties_.speaks || !idle || spoken_ == wave) return {};
  if (node.children.load(std::memory_order_acquire) != static_cast<std::uint64_t>(duties_.children_of_node)) return {};
  if (!is_complete(run)) return {};
  const bool root = duties_.parent < 0;
  if (root && now < not_before_) return {};
  const Waves::Counts counts = gather();
  spoken_ = wave;
  if (!root) {
    voice_.report(duties_.parent, wave, counts);
  } else {
    pace_ = std::clamp(2 * pace_, kFirstPace, kLastPace);
    not_before_ = now + pace_;
    advance(wave + 1, waves_.judge(counts, ranks_), counts.leaver);
  }
  return {};
}

bool Ending::is_complete(std::uint64_t run) const {
  for (int local = 0; local < arena_.processes(); ++local) {
    if (arena_.process(local).entered.load(std::memory_order_acquire) < run) return false;
  }
  return true;
}

Waves::Counts Ending::gather() const {
  const NodeBlock& node = arena_.node();
  Waves::Counts counts{node.spawned.load(std::memory_order_relaxed), node.finished.load(std::memory_order_relaxed),
                       node.leaving.load(std::memory_order_relaxed), node.leaver.load(std::memory_order_relaxed)};
  for (int index = 0; index < arena_.workers(); ++index) {
    const WorkerBlock& worker = arena_.worker(index);
    counts.finished += worker.finished.load(std::memory_order_acquire);
    counts.spawned += worker.spawned.load(std::memory_order_acquire);
  }
  // Who leaves waits for messages, too: nobody may be written to who is gone.
  for (int local = 0; local < arena_.processes(); ++local) {
    const ProcessBlock& process = arena_.process(local);
    const std::uint64_t leaving = process.leaving.load(std::memory_order_relaxed);
    if (leaving == 0) continue;
    counts.leaving += 1;
    const auto world = static_cast<std::uint64_t>(process.world.load(std::memory_order_relaxed));
    counts.leaver = std::max(counts.leaver, 2 * (world + 1) + leaving - 1);
    counts.finished += process.received.load(std::memory_order_acquire);
    counts.spawned += process.mailed.load(std::memory_order_acquire);
  }
  return counts;
}

void Ending::reported(const Waves::Counts& counts) {
  NodeBlock& node = arena_.node();
  node.spawned.fetch_add(counts.spawned, std::memory_order_relaxed);
  node.finished.fetch_add(counts.finished, std::memory_order_relaxed);
  node.leaving.fetch_add(counts.leaving, std::memory_order_relaxed);
  std::uint64_t leaver = node.leaver.load(std::memory_order_relaxed);
  while (leaver < counts.leaver && !node.leaver.compare_exchange_weak(leaver, counts.leaver)) continue;
  node.children.fetch_add(1, std::memory_order_release);
}

void Ending::decided(std::uint64_t wave, Waves::Verdict verdict, std::uint64_t leaver) {
  advance(wave, verdict, leaver);
}

void Ending::advance(std::uint64_t wave, Waves::Verdict verdict, std::uint64_t leaver) {
  NodeBlock& node = arena_.node();
  node.children.store(0, std::memory_order_relaxed);
  node.spawned.store(0, std::memory_order_relaxed);
  node.finished.store(0, std::memory_order_relaxed);
  node.leaving.store(0, std::memory_order_relaxed);
  node.leaver.store(0, std::memory_order_relaxed);
  node.last_leaver.store(leaver, std::memory_order_relaxed);
  node.wave.store(pack(wave, verdict), std::memory_order_release);
}

}  // namespace steelyard::tasks

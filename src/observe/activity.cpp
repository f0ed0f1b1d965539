// SPDX-License-Identifier: BSD-3-Clause
#include "observe/activity.h"

#include <algorithm>

namespace steelyard::observe {
namespace {
constexpr int kCellsAtStart = 64;  // Size: threads; a larger team makes more
}

Activity::Activity() : cells_(new ThreadCell[kCellsAtStart]), cells_size_(kCellsAtStart) {}

void Activity::start(std::int64_t now, int cores) {
  totals_ = {};
  state_ = State::alone;
  since_ = start_ = now;
  owned_ = cores;
  waits_ = false;
  held_ = false;
  correction_ = {};
  inactive_ = {};
  others_then_ = others_.at(now);
}

void Activity::add_stretch(Totals& totals, std::int64_t length) const {
  if (state_ == State::alone) {
    const Inactive inactive = inactive_.within(length);
    totals.serial += length - inactive.wall;
    totals.region_wall += inactive.wall;
    totals.region_useful += inactive.useful;
    totals.omp_scheduling += inactive.wall - inactive.useful;
    totals.omp_serialisation += (owned_ - 1) * length;
    totals.capacity += owned_ * length;
  } else if (state_ == State::mpi) {
    totals.mpi += length;
    totals.mpi_capacity += owned_ * length;
    totals.capacity += owned_ * length;
  } else if (state_ == State::gpu) {
    totals.gpu += length;
    totals.gpu_capacity += owned_ * length;
    totals.capacity += owned_ * length;
  }
}

// Other teams have computed on cores that count as idle since `since_`, and on more than those.
OtherTeams::Reading Activity::take_idle(Totals& totals, std::int64_t now, std::int64_t idle_in_region) const {
  const OtherTeams::Reading reading = others_.at(now);
  if (state_ == State::off) return reading;
  const std::int64_t length = now - since_;
  std::int64_t Totals::* part = &Totals::omp_serialisation;
  std::int64_t idle = (owned_ - 1) * length;
  if (state_ == State::region) {
    idle = idle_in_region;
  } else if (state_ != State::alone) {
    part = state_ == State::mpi ? &Totals::mpi_capacity : &Totals::gpu_capacity;
    idle = owned_ * length;
  }
  if (state_ == State::mpi)
    totals.mpi_overlapped += std::clamp<std::int64_t>(reading.other_threads - others_then_.other_threads, 0, length);
  const std::int64_t used = std::max<std::int64_t>(0, reading.thread_time - others_then_.thread_time);
  const std::int64_t taken = std::min(used, idle);
  totals.*part -= taken;
  totals.capacity -= taken;
  totals.beyond_owned += used - taken;
  return reading;
}

void Activity::close_stretch(std::int64_t now, State next) {
  now = std::max(now, since_);  // clocks differ by some tens of ns
  add_stretch(totals_, now - since_);
  inactive_ = {};
  if (others_.any()) [[unlikely]]
    others_then_ = take_idle(totals_, now, 0);
  totals_.wall = now - start_;
  state_ = next;
  since_ = now;
}

void Activity::add_by_call(Totals& totals, std::int64_t now) const {
  const std::int64_t length = std::max<std::int64_t>(0, now - by_call_since_);
  totals.lent += lent_by_call_ * length;
  totals.lent_by_call += lent_by_call_ * length;
}

void Activity::hold_by_call(int lent, std::int64_t used, std::int64_t now) {
  add_by_call(totals_, now);
  lent_by_call_ = lent;
  totals_.borrowed += used;
  by_call_since_ = std::max(now, by_call_since_);
}

void Activity::enter_mpi(std::int64_t now) {
  if (state_ == State::alone) close_stretch(now, State::mpi);
}

void Activity::leave_mpi(std::int64_t now) {
  if (state_ != State::mpi) return;
  ++totals_.mpi_calls;
  close_stretch(now, waits_ ? State::mpi : State::alone);
}

bool Activity::enter_gpu(std::int64_t now) {
  if (state_ != State::alone) return false;
  close_stretch(now, State::gpu);
  return true;
}

void Activity::leave_gpu(std::int64_t now) {
  if (state_ != State::gpu) return;
  ++totals_.gpu_waits;
  close_stretch(now, State::alone);
}

void Activity::begin_wait(std::int64_t now, bool quiesced) {
  if (state_ != State::alone || waits_) return;
  waits_ = true;
  quiesced_since_ = quiesced ? now : 0;
  close_stretch(now, State::mpi);
}

void Activity::end_wait(std::int64_t now) {
  if (!waits_) return;
  waits_ = false;
  if (quiesced_since_ > 0) totals_.quiesced += now - quiesced_since_;
  if (state_ == State::mpi) close_stretch(now, State::alone);
}

void Activity::hold(std::int64_t now) {
  at_hold_ = tick_at(now);
  held_ = true;
}

void Activity::release(std::int64_t now, std::int64_t together) {
  held_ = false;
  const std::int64_t length = now - at_hold_.time;
  const std::int64_t serial = together < 0 ? length : std::min(together, length);
  const Tick raw = uncorrected_tick_at(now);
  correction_ = {0, at_hold_.region_useful - raw.region_useful, at_hold_.region_wall - raw.region_wall,
                 at_hold_.serial + serial - raw.serial, at_hold_.mpi + length - serial - raw.mpi};
}

void Activity::region_begin(std::int64_t now, int most_threads) {
  if (most_threads > cells_size_) {
    cells_size_ = most_threads;
    cells_ = std::make_unique<ThreadCell[]>(static_cast<std::size_t>(cells_size_));
  }
  for (int i = 0; i < most_threads; ++i) cells_[i].begin.store(0, std::memory_order_relaxed);
  region_.fetch_add(1, std::memory_order_relaxed);
  close_stretch(now, State::region);
}

std::int64_t Activity::busy(int thread, std::int64_t now) const {
  const ThreadCell& cell = cells_[thread];
  const std::int64_t came = cell.begin.load(std::memory_order_relaxed);
  if (came == 0) return 0;
  const std::int64_t done = std::clamp(done_at(cell, now), came, std::max(came, now));
  const std::int64_t working = done - came - waited_until(cell, came, done);
  const std::int64_t idle = cell.gpu.load(std::memory_order_relaxed) + cell.mpi.load(std::memory_order_relaxed) +
                            cell.forked.load(std::memory_order_relaxed);
  return working - std::clamp<std::int64_t>(idle, 0, working);
}

void Activity::region_end(std::int64_t now, int team, const TeamCores& cores) {
  if (state_ != State::region) return;
  const std::int64_t begin = since_;
  const std::int64_t wall = now - begin;
  team = std::clamp(team, 1, cells_size_);
  const Totals before = totals_;
  const TeamSplit split = split_team(cells_.get(), team, begin, now);
  const TeamParts parts = split.all();
  parts.add_to(totals_);
  TeamCores found = cores;
  found.without = remove_time_without_core(before, cores.without);
  last_team_time_ = {team * wall - found.without, totals_.region_useful - before.region_useful,
                     totals_.omp_imbalance - before.omp_imbalance,
                     parts.gpu > 0 || parts.mpi > 0 || parts.tasks > 0 || parts.nests};
  const std::int64_t gpu = std::min(parts.gpu / team, wall - split.in_mpi);
  totals_.gpu += gpu;
  totals_.mpi += split.in_mpi;
  totals_.region_wall -= gpu + split.in_mpi;
  close_region(now, team, found);
}

std::int64_t Activity::remove_time_without_core(const Totals& before, std::int64_t without) {
  // Threads that share a core do together what one of them alone would do. Waiting is taken first: the thread that
  // waited is the one without a core of its own.
  std::int64_t removed = 0;
  for (std::int64_t Totals::* part : {&Totals::omp_imbalance, &Totals::omp_scheduling, &Totals::region_useful}) {
    const std::int64_t taken = std::min(without - removed, totals_.*part - before.*part);
    totals_.*part -= taken;
    removed += taken;
  }
  return removed;
}

void Activity::unmeasured_region_end(std::int64_t now, int team, float useful_share, float imbalance_share,
                                     int without_core) {
  if (state_ != State::region) return;
  team = std::clamp(team, 1, cells_size_);
  const TeamCores cores{.without = std::clamp(without_core, 0, team - 1) * (now - since_)};
  const std::int64_t capacity = team * (now - since_) - cores.without;
  const auto part = [capacity](float share, std::int64_t most) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<float>(capacity) * share), 0, most);
  };
  const std::int64_t useful = part(useful_share, capacity);
  const std::int64_t imbalance = part(imbalance_share, capacity - useful);
  totals_.region_useful += useful;
  totals_.omp_imbalance += imbalance;
  totals_.omp_scheduling += capacity - useful - imbalance;
  close_region(now, team, cores);
}

void Activity::close_region(std::int64_t now, int team, const TeamCores& cores) {
  const std::int64_t wall = now - since_;
  totals_.region_wall += wall;
  // Owned cores without a thread are as idle as while the primary computes alone.
  const std::int64_t idle = std::max<std::int64_t>(0, (owned_ - team) * wall + cores.without);
  totals_.omp_serialisation += idle;
  totals_.capacity += team * wall - cores.without + idle;
  if (others_.any()) [[unlikely]]
    others_then_ = take_idle(totals_, now, idle);
  totals_.borrowed += cores.borrowed;
  totals_.came_late += cores.came_late;
  ++totals_.regions;
  totals_.wall = now - start_;
  last_region_wall_ = wall;
  state_ = State::alone;
  since_ = now;
}

Totals Activity::totals_at(std::int64_t now) const {
  now = std::max(now, since_);  // as in close_stretch()
  Totals snapshot = totals_;
  add_stretch(snapshot, now - since_);
  add_by_call(snapshot, now);
  snapshot.wall = now - start_;
  if (!others_.any()) return snapshot;
  if (state_ != State::region) take_idle(snapshot, now, 0);  // of a region, nothing is told before its end
  others_.add_to(snapshot, now);
  return snapshot;
}

}  // namespace steelyard::observe

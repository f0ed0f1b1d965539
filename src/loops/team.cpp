// SPDX-License-Identifier: BSD-3-Clause
#include "loops/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "loops/places.h"
#include "loops/relax.h"
#include "node/binding.h"

namespace steelyard::loops {
namespace {

/// On lines of its own: neighbours are fetched in pairs.
struct alignas(128) Word {
  base::Atomic<std::uint64_t> range = 0;
};
struct alignas(128) Result {
  ThreadSample sample;
  std::int64_t began = 0, finished = 0;
  std::vector<Assignment::Piece> log;
};

// Encoding: a turn is (number of the loop) * 4, plus one of these.
constexpr std::uint64_t kOpening = 2, kOpen = 1;

}  // namespace

/// One loop in progress.
struct Instance {
  explicit Instance(int threads)
      : words(std::make_unique<Word[]>(static_cast<std::size_t>(threads) + 1)),
        results(std::make_unique<Result[]>(static_cast<std::size_t>(threads))) {
    dynamic.resize(static_cast<std::size_t>(threads));
    fixed.resize(static_cast<std::size_t>(threads));
    execution.threads.resize(static_cast<std::size_t>(threads));
  }

  alignas(128) base::Atomic<std::uint64_t> turn = 0;
  base::Atomic<bool> cancelled = false;
  std::uint32_t round = 0;
  Loop* loop = nullptr;
  Loop* planned_for = nullptr;
  std::uint64_t count = 0, unit = 1, bounds = 0;
  std::uint32_t pool_begin = 0, pool_end = 0;
  Plan plan;
  Loop::Ticket ticket;
  std::uint64_t version = 0;
  std::vector<Range> fixed, dynamic;  ///< by thread, in units

  alignas(128) base::Atomic<int> ended = 0;
  Execution execution;
  std::unique_ptr<Word[]> words;  ///< one a thread, and the pool's
  std::unique_ptr<Result[]> results;

  void open(Loop& next, std::uint64_t iterations, int threads);
  void close(int threads);
  /// All ranges empty since a round long ago.
  void forget(int threads);
};

void Instance::forget(int threads) {
  for (int t = 0; t <= threads; ++t) words[static_cast<std::size_t>(t)].range.store(0, std::memory_order_relaxed);
}

void Instance::open(Loop& next, std::uint64_t iterations, int threads) {
  if (planned_for != &next) {
    ticket = {};
    planned_for = &next;
    version = 0;
  }
  loop = &next;
  count = iterations;
  if (++round == 0) {
    // After 2^32 loops, words that no thread has changed since would be taken for words of this round.
    round = 1;
    forget(threads);
  }
  next.prepare({iterations, threads}, plan, ticket);
  if (version != ticket.version) {
    version = ticket.version;
    unit = std::max<std::uint64_t>(1, unit_of(iterations));
    const auto all = static_cast<std::uint32_t>(iterations / unit + (iterations % unit != 0));
    const auto units = [&](std::uint64_t iteration) {
      return iteration >= iterations ? all : static_cast<std::uint32_t>(iteration / unit);
    };
    for (int t = 0; t < threads; ++t) {
      const auto i = static_cast<std::size_t>(t);
      const std::uint32_t middle = units(plan.dynamic_begin(t));
      fixed[i] = {units(plan.boundaries[i]), middle};
      dynamic[i] = {middle, units(plan.boundaries[i + 1])};
    }
    pool_begin = units(plan.pool);
    pool_end = units(iterations);
  }
}

void Instance::close(int threads) {
  if (cancelled.load(std::memory_order_relaxed)) {
    cancelled.store(false, std::memory_order_relaxed);
    forget(threads);
    ended.store(0, std::memory_order_relaxed);
    return;
  }
  ended.store(0, std::memory_order_relaxed);
  if (ticket.measure) {
    std::int64_t first = INT64_MAX, last = 0;
    for (int t = 0; t < threads; ++t) {
      const Result& result = results[static_cast<std::size_t>(t)];
      first = std::min(first, result.began);
      last = std::max(last, result.finished);
    }
    execution.count = count;
    execution.strategy = plan.strategy;
    execution.static_fraction = plan.static_fraction;
    execution.elapsed_ns = last - first;
    for (int t = 0; t < threads; ++t) {
      const Result& result = results[static_cast<std::size_t>(t)];
      ThreadSample& sample = execution.threads[static_cast<std::size_t>(t)];
      sample = result.sample;
      sample.idle_ns = last - result.finished;
    }
    loop->completed(plan, ticket, execution);
    execution.learning_ns = base::now_ns() - last;
  }
  if (ticket.record) {
    Assignment assignment{count, {}};
    for (int t = 0; t < threads; ++t) assignment.threads.push_back(results[static_cast<std::size_t>(t)].log);
    loop->recorded(std::move(assignment));
  }
}

Team::Team(int threads, int depth)
    : threads_(std::max(1, threads)),
      places_(std::make_unique<base::Atomic<Place>[]>(static_cast<std::size_t>(threads_))),
      members_(std::make_unique<Member[]>(static_cast<std::size_t>(threads_))) {
  for (int i = 0; i < std::max(1, depth); ++i) {
    instances_.push_back(std::make_unique<Instance>(threads_));
    instances_.back()->turn = static_cast<std::uint64_t>(i) * 4;
  }
  for (int t = 0; t < threads_; ++t) {
    member(t).team_ = this;
    member(t).thread_ = t;
  }
}

Team::~Team() = default;

base::Status Member::begin(Loop& loop, std::uint64_t count, Manner manner, std::uint64_t bounds) {
  if (inside()) {
    return base::Status::failure(
        base::Code::invalid_state,
        fmt::format("thread {} begins the loop {} and has not ended the one before: call end after next has said that "
                    "nothing is left",
                    thread_, loop.key()));
  }
  chunks_ = iterations_ = 0;
  opened_ = false;
  log_ = nullptr;
  last_ = 0;
  kept_ = {};
  if (team_->threads_ == 1) {
    stage_ = Stage::alone;
    count_ = count;
    return {};
  }
  Instance& instance = team_->instance(number_);
  const std::uint64_t turn = number_ * 4;
  for (int round = 0;; ++round) {
    std::uint64_t seen = instance.turn.load(std::memory_order_acquire);
    if (seen == turn + kOpen) break;
    if (seen == turn && instance.turn.compare_exchange_strong(seen, turn + kOpening, std::memory_order_acquire)) {
      instance.open(loop, count, team_->threads_);
      instance.bounds = bounds;
      instance.turn.store(turn + kOpen, std::memory_order_release);
      opened_ = true;
      break;
    }
    relax(round);
  }
  instance_ = &instance;
  cancelled_ = &instance.cancelled;
  const bool same_loop = manner != Manner::called || instance.loop == &loop;
  if (!same_loop || instance.count != count || instance.bounds != bounds) {
    const std::string others = !same_loop || instance.count != count
                                   ? fmt::format("{} with {}", instance.loop->key(), instance.count)
                                   : "it with other bounds or another stride";
    const std::string seen = fmt::format(
        "thread {} begins the loop {} with {} iterations, but others of its team of {} have begun {}: "
        "all threads of a team go through the same loops in the same order, and a loop record serves one team "
        "at a time",
        thread_, loop.key(), count, team_->threads_, others);
    give_up();
    return base::Status::failure(base::Code::mismatch, seen);
  }
  const auto me = static_cast<std::size_t>(thread_);
  round_ = instance.round;
  unit_ = instance.unit;
  count_ = count;
  if (manner == Manner::compiled) last_ = count;
  planned_ = instance.dynamic[me];
  own_ = &instance.words[me].range;
  chunk_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(instance.plan.chunk / unit_, 1, UINT32_MAX));
  in_own_part_ = true;
  left_own_part_ = 0;
  replayed_ = 0;
  stage_ = instance.ticket.replayed != nullptr ? Stage::replay : Stage::fixed;
  if (instance.plan.steal != Steal::none && team_->threads_ > 2) look_where_it_runs();
  if (instance.ticket.record) {
    log_ = &instance.results[me].log;
    log_->clear();
  }
  if (instance.ticket.measure) began_ = base::now_ns();
  return {};
}

void Member::pass() {
  if (inside() || team_->threads_ == 1) return;
  Instance& instance = team_->instance(number_);
  for (int round = 0; instance.turn.load(std::memory_order_acquire) != number_ * 4 + kOpen; ++round) relax(round);
  instance_ = &instance;
  cancelled_ = &instance.cancelled;
  give_up();
}

void Member::give_up() {
  cancel();
  stage_ = Stage::finished;
  end();
}

bool Member::next_elsewhere(Chunk& chunk) {
  while (take_elsewhere(chunk)) {
    if (chunk.end != last_ || stage_ == Stage::last) return true;
    keep(chunk);
  }
  return false;
}

bool Member::take_elsewhere(Chunk& chunk) {
  if (stage_ == Stage::outside || stage_ == Stage::finished) return false;
  if (stage_ == Stage::alone) {
    chunk = {0, count_};
    count_ = 0;
    if (chunk.end == 0) stage_ = Stage::finished;
    return chunk.end != 0;
  }
  if (cancelled_->load(std::memory_order_relaxed)) {
    kept_ = {};
    return finish(chunk);
  }
  if (stage_ == Stage::last) return finish(chunk);
  if (stage_ == Stage::replay) return take_replayed(chunk);
  if (stage_ == Stage::fixed && take_fixed(chunk)) return true;
  if (stage_ == Stage::own) {
    if (take_own(chunk)) return true;
    leave_own_part();
    stage_ = Stage::pool;
  }
  if (stage_ == Stage::pool && take_pool(chunk)) return true;
  if (take_from_others(chunk)) return true;
  return finish(chunk);
}

bool Member::take_fixed(Chunk& chunk) {
  stage_ = Stage::own;
  const Range range = instance_->fixed[static_cast<std::size_t>(thread_)];
  if (range.empty()) return false;
  give(range, chunk);
  return true;
}

bool Member::take_pool(Chunk& chunk) {
  const Range planned{instance_->pool_begin, instance_->pool_end};
  if (planned.empty()) {
    stage_ = Stage::steal;
    return false;
  }
  const auto threads = static_cast<std::uint32_t>(team_->threads_);
  base::Atomic<std::uint64_t>& pool = instance_->words[threads].range;
  std::uint64_t word = pool.load(std::memory_order_relaxed);
  for (;;) {
    const Range range = unpack(word, round_, planned);
    if (range.empty()) {
      stage_ = Stage::steal;
      return false;
    }
    const std::uint32_t size = bite(instance_->plan.rule, chunk_, threads, planned.size(), range.size());
    const Range rest{range.begin + size, range.end};
    if (pool.compare_exchange_weak(word, pack(rest, round_), std::memory_order_relaxed)) {
      give({range.begin, rest.begin}, chunk);
      return true;
    }
  }
}

bool Member::take_from_others(Chunk& chunk) {
  if (instance_->plan.steal == Steal::none) return false;
  for (int i = 0; i + 1 < team_->threads_; ++i) {
    if (rob(victim(i), chunk)) return true;
  }
  return false;
}

int Member::victim(int i) const {
  if (!nearest_.empty()) return nearest_[static_cast<std::size_t>(i)];
  // +1, -1, +2, -2, ... around the ring.
  const int threads = team_->threads_, distance = i / 2 + 1;
  return (thread_ + (i % 2 == 0 ? distance : threads - distance)) % threads;
}

void Member::look_where_it_runs() {
  const int cpu = node::this_cpu();
  if (cpu == cpu_ && --loops_until_look_ > 0) return;
  const std::optional<Place> place = place_of_this_thread();
  cpu_ = cpu;
  loops_until_look_ = place ? kLookAgain : 1;
  base::Atomic<Place>& mine = team_->places_[static_cast<std::size_t>(thread_)];
  if (!place || *place == mine.load(std::memory_order_relaxed)) return;
  mine.store(*place, std::memory_order_relaxed);
  team_->placement_.fetch_add(1, std::memory_order_release);
}

void Member::order_victims() {
  placement_ = team_->placement_.load(std::memory_order_acquire);
  std::vector<Place> places;
  for (int t = 0; t < team_->threads_; ++t)
    places.push_back(team_->places_[static_cast<std::size_t>(t)].load(std::memory_order_relaxed));
  nearest_ = nearest_first(static_cast<std::size_t>(thread_), places);
}

bool Member::rob(int victim, Chunk& chunk) {
  const auto its = static_cast<std::size_t>(victim);
  base::Atomic<std::uint64_t>& its_word = instance_->words[its].range;
  std::uint64_t word = its_word.load(std::memory_order_relaxed);
  for (;;) {
    const Range range = unpack(word, round_, instance_->dynamic[its]);
    if (range.empty()) return false;
    const std::uint32_t size = loot(instance_->plan.steal, chunk_, range.size());
    const Range left{range.begin, range.end - size};
    if (!its_word.compare_exchange_weak(word, pack(left, round_), std::memory_order_relaxed)) continue;
    const std::uint32_t first = std::min(size, chunk_);
    give({left.end, left.end + first}, chunk);
    if (first < size) {
      // From now on its own: it takes from the front, others may take from the back.
      own_->store(pack({left.end + first, range.end}, round_), std::memory_order_relaxed);
      stage_ = Stage::own;
    } else {
      stage_ = Stage::steal;
    }
    return true;
  }
}

bool Member::take_replayed(Chunk& chunk) {
  const auto& pieces = instance_->ticket.replayed->threads[static_cast<std::size_t>(thread_)];
  if (replayed_ == pieces.size()) {
    leave_own_part();
    return finish(chunk);
  }
  const Assignment::Piece& piece = pieces[replayed_++];
  chunk = {piece.begin, piece.end};
  count(chunk);
  return true;
}

void Member::keep(const Chunk& chunk) {
  // The chunk is not counted for this thread yet: it is neither begun nor recorded.
  --chunks_;
  iterations_ -= chunk.end - chunk.begin;
  if (log_ != nullptr) {
    log_->back().end -= chunk.end - chunk.begin;
    if (log_->back().end == log_->back().begin) log_->pop_back();
  }
  kept_ = chunk;
  kept_in_own_part_ = in_own_part_;
  kept_until_ = 0;
}

void Member::leave_own_part() {
  if (!in_own_part_) return;
  in_own_part_ = false;
  own_iterations_ = iterations_;
  if (instance_->ticket.measure) left_own_part_ = base::now_ns();
  if (team_->placement_.load(std::memory_order_relaxed) != placement_) order_victims();
}

bool Member::finish(Chunk& chunk) {
  leave_own_part();
  if (kept_.end != 0) {
    chunk = std::exchange(kept_, {});
    stage_ = Stage::last;
    if (kept_in_own_part_ && iterations_ == own_iterations_) {
      in_own_part_ = true;  // it has done nothing else since
    } else if (kept_in_own_part_) {
      own_iterations_ += chunk.end - chunk.begin;
      if (instance_->ticket.measure) kept_until_ = base::now_ns();
    }
    count(chunk);
    return true;
  }
  if (kept_until_ != 0) {
    left_own_part_ += base::now_ns() - kept_until_;
    kept_until_ = 0;
  }
  if (instance_->ticket.measure) {
    Result& result = instance_->results[static_cast<std::size_t>(thread_)];
    const bool moved = iterations_ != own_iterations_;
    result.began = began_;
    result.finished = moved ? base::now_ns() : left_own_part_;
    result.sample.busy_ns = result.finished - began_;
    result.sample.own_ns = left_own_part_ - began_;
    result.sample.own_iterations = own_iterations_;
    result.sample.stolen = iterations_ - own_iterations_;
    result.sample.chunks = chunks_;
  }
  stage_ = Stage::finished;
  return false;
}

void Member::cancel() {
  if (stage_ == Stage::alone) {
    count_ = 0;
  } else if (cancelled_ != nullptr) {
    cancelled_->store(true, std::memory_order_relaxed);
  }
}

void Member::end() {
  if (stage_ == Stage::outside) return;
  if (stage_ == Stage::alone || instance_ == nullptr) {
    stage_ = Stage::outside;
    return;
  }
  if (stage_ != Stage::finished) {
    Chunk unwanted;
    cancel();
    while (next(unwanted)) {
    }
  }
  stage_ = Stage::outside;
  Instance& instance = *instance_;
  instance_ = nullptr;
  cancelled_ = nullptr;
  if (instance.ended.fetch_add(1, std::memory_order_acq_rel) + 1 == team_->threads_) {
    instance.close(team_->threads_);
    const std::uint64_t later = number_ + team_->instances_.size();
    instance.turn.store(later * 4, std::memory_order_release);
  }
  ++number_;
}

}  // namespace steelyard::loops

// SPDX-License-Identifier: BSD-3-Clause
#include "loops/gathering.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace steelyard::loops {

/// A thread's seat. Another thread may take it only if no thread of its team has been through fewer loops. Then a new
/// region begins, as far as Steelyard can see. Otherwise two teams are mixed.
struct alignas(128) Gathering::Seat {
  std::atomic<std::uint64_t> owner = 0;     ///< the thread that has it
  std::atomic<std::uint64_t> progress = 0;  ///< loops begun and ended
  Member* member = nullptr;
};

struct Gathering::Round {
  Round(Loop& its_loop, const openmp::Position& here, Succession& its_succession)
      : loop(its_loop),
        succession(its_succession),
        path(here.path),
        team(here.threads),
        seats(std::make_unique<Seat[]>(static_cast<std::size_t>(here.threads))) {
    for (int t = 0; t < here.threads; ++t) seats[static_cast<std::size_t>(t)].member = &team.member(t);
  }
  ~Round() { succession.forget(this); }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  /// This thread is in another loop, so the other threads must not wait for it in this loop.
  void pass(int thread) {
    Seat& its = seats[static_cast<std::size_t>(thread)];
    its.member->pass();
    its.progress.fetch_add(2, std::memory_order_relaxed);
  }

  Loop& loop;
  Succession& succession;
  const std::uint64_t path;
  Team team;
  std::unique_ptr<Seat[]> seats;
};

Gathering::Gathering(Loop& loop, bool exclusive, Successions& all)
    : loop_(loop), exclusive_(exclusive), successions_(all) {}

Gathering::~Gathering() = default;

Gathering::Round& Gathering::round(const openmp::Position& here) {
  const auto fits = [&](const Round& r) { return r.path == here.path && r.team.threads() == here.threads; };
  if (Round* const latest = latest_.load(std::memory_order_acquire); latest != nullptr && fits(*latest)) return *latest;
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find_if(rounds_, [&](const auto& r) { return fits(*r); });
  Round* const found = known != rounds_.end()
                           ? known->get()
                           : rounds_.emplace_back(std::make_unique<Round>(loop_, here, successions_.of(here))).get();
  if (rounds_.size() > 1) several_rounds_.store(true, std::memory_order_relaxed);
  latest_.store(found, std::memory_order_release);
  return *found;
}

bool Gathering::busy_elsewhere(const Round& mine) {
  // All threads call this at the same time: a lock would put some of them to sleep.
  if (!several_rounds_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  for (const auto& other : rounds_) {
    if (other.get() == &mine) continue;
    for (int t = 0; t < other->team.threads(); ++t) {
      if (other->seats[static_cast<std::size_t>(t)].progress.load(std::memory_order_relaxed) % 2 != 0) return true;
    }
  }
  return false;
}

base::Status Gathering::begin(const openmp::Position& here, std::uint64_t count, Seat*& seat, std::uint64_t bounds) {
  // Threads are identified by a number, because addresses of threads are used again.
  static std::atomic<std::uint64_t> threads = 0;
  static thread_local const std::uint64_t me = ++threads;
  successions_.seen(here, me);
  Round& its = round(here);
  Seat& mine = its.seats[static_cast<std::size_t>(here.thread)];
  std::uint64_t owner = mine.owner.load(std::memory_order_relaxed);
  // If this thread has left its last execution without an end, the others would wait for it forever. That execution and
  // this one are cancelled, so that all threads go through the same number of loops.
  const bool abandoned = owner == me && end(mine);
  std::uint64_t progress = mine.progress.load(std::memory_order_relaxed);
  bool mixed = progress % 2 != 0;
  if (owner != me && !mixed) {
    for (int t = 0; t < here.threads; ++t)
      mixed |= its.seats[static_cast<std::size_t>(t)].progress.load(std::memory_order_relaxed) < progress;
    mixed |= !mine.owner.compare_exchange_strong(owner, me, std::memory_order_relaxed);
  }
  mixed |= exclusive_ && busy_elsewhere(its);
  if (mixed || !mine.progress.compare_exchange_strong(progress, progress + 1, std::memory_order_relaxed)) {
    return base::Status::failure(
        base::Code::invalid_state,
        fmt::format(
            "loop {} is executed by two teams at the same time; this is thread {} of the second team. Give each team "
            "its own loop (steelyard_loop_create)",
            loop_.key(), here.thread));
  }
  // A thread that leaves a region early, or that is in a nested region, may rightly begin other loops than the others.
  const bool comparable = here.path == 0 && !openmp::may_cancel();
  if (void* left_out = comparable ? its.succession.begin(here.thread, &its, me) : nullptr; left_out != nullptr) {
    mine.progress.store(progress, std::memory_order_relaxed);
    const std::string others = static_cast<Round*>(left_out)->loop.key();
    for (; left_out != nullptr; left_out = left_out == &its ? nullptr : its.succession.left_out(here.thread, &its))
      static_cast<Round*>(left_out)->pass(here.thread);
    return base::Status::failure(
        base::Code::mismatch,
        fmt::format(
            "thread {} begins loop {}, but other threads of its team of {} have begun loop {} instead. All threads of "
            "a team must execute the same loops in the same order. If several calls are one loop, pass the same "
            "handle to all of them (steelyard_loop_create)",
            here.thread, loop_.key(), here.threads, others));
  }
  if (base::Status status = mine.member->begin(loop_, count, Manner::called, bounds); !status) {
    mine.progress.store(progress + 2, std::memory_order_relaxed);
    return status;
  }
  if (abandoned) {
    end(mine);
    return base::Status::failure(
        base::Code::invalid_state,
        fmt::format(
            "thread {} begins loop {} and has not ended its previous execution. Both are cancelled in all threads of "
            "the team. Call steelyard_loop_end() once after each begin",
            here.thread, loop_.key()));
  }
  seat = &mine;
  return {};
}

Member& Gathering::member(Seat& seat) { return *seat.member; }

bool Gathering::end(Seat& seat) {
  const std::uint64_t progress = seat.progress.load(std::memory_order_relaxed);
  if (progress % 2 == 0) return false;
  seat.member->end();
  seat.progress.store(progress + 1, std::memory_order_release);
  return true;
}

Team& Gathering::borrow(int threads) {
  const std::lock_guard lock(mutex_);
  const auto fits = std::ranges::find_if(idle_, [&](const auto& team) { return team->threads() == threads; });
  if (fits != idle_.end()) {
    teams_.push_back(std::move(*fits));
    idle_.erase(fits);
  } else {
    teams_.push_back(std::make_unique<Team>(threads));
  }
  return *teams_.back();
}

void Gathering::give_back(Team& team) {
  const std::lock_guard lock(mutex_);
  const auto mine = std::ranges::find_if(teams_, [&](const auto& other) { return other.get() == &team; });
  idle_.push_back(std::move(*mine));
  teams_.erase(mine);
}

}  // namespace steelyard::loops

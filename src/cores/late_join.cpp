// SPDX-License-Identifier: BSD-3-Clause
#include "cores/late_join.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "node/binding.h"
#include "node/run_delay.h"

namespace steelyard::cores {

using node::Segment;

std::size_t LateJoin::footprint(int processes) {
  return Segment::footprint<std::atomic<std::int32_t>>(1) + Segment::footprint<Request>(processes);
}

LateJoin::LateJoin(Segment& segment, int processes, int me)
    : pid_namespace_(node::pid_namespace()),
      open_(segment.carve<std::atomic<std::int32_t>>(1)),
      requests_(segment.carve<Request>(processes)),
      processes_(processes),
      me_(me) {
  requests_[me].pid_namespace.store(pid_namespace_);
}

void LateJoin::note_thread(int thread) {
  if (thread < kMostKnown) known_[thread].store(node::thread_id(), std::memory_order_relaxed);
}

bool LateJoin::possible() const {
  const auto same = [this](int process) {
    return process != me_ && requests_[process].pid_namespace.load() == pid_namespace_;
  };
  for (int process = 0; pid_namespace_ != 0 && process < processes_; ++process) {
    if (same(process)) return true;
  }
  return false;
}

void LateJoin::request(int first_thread, const std::vector<int>& cpus, std::int64_t until) {
  Request& mine = requests_[me_];
  mine.until.store(until, std::memory_order_relaxed);
  for (int place = 0; place < kMost; ++place) {
    const int thread = first_thread + place;
    std::int32_t id = 0;
    if (place < static_cast<int>(cpus.size()) && thread < kMostKnown) {
      cpu_[place] = cpus[static_cast<std::size_t>(place)];
      id = known_[thread].load(std::memory_order_relaxed);
      // If the thread has ended, the kernel may have given its ID to a thread of another process.
      if (id != 0 && (tgkill(getpid(), id, 0) != 0 || !node::bind_thread(id, {cpu_[place]}))) id = 0;
    }
    placed_[place] = id;
    mine.thread[place].store(id);
  }
  first_.store(first_thread, std::memory_order_relaxed);
  open_->fetch_add(1);
  requesting_ = true;
}

bool LateJoin::place(int thread) {
  const int place = thread - first_.load(std::memory_order_relaxed);
  if (place >= kMost || thread >= kMostKnown) return false;
  note_thread(thread);
  const std::int32_t id = known_[thread].load(std::memory_order_relaxed);
  if (id == placed_[place]) return true;
  if (placed_[place] != 0) misplaced_.store(true, std::memory_order_relaxed);
  node::bind_this_thread({cpu_[place]});
  requests_[me_].thread[place].store(id);
  return true;
}

void LateJoin::withdraw() {
  if (!requesting_) return;
  requesting_ = false;
  open_->fetch_sub(1);
  first_.store(std::numeric_limits<int>::max(), std::memory_order_relaxed);
  for (auto& thread : requests_[me_].thread) thread.store(0);
}

bool LateJoin::changed() {
  const std::uint32_t given = requests_[me_].given.load(std::memory_order_acquire);
  const bool some = given != seen_ || misplaced_.load(std::memory_order_relaxed);
  if (some) {
    seen_ = given;
    misplaced_.store(false, std::memory_order_relaxed);
  }
  return some;
}

bool LateJoin::give(CoreTable& table, int core, int os_index, std::int64_t now) {
  for (int step = 0; step < processes_; ++step) {
    const int process = (next_ + step) % processes_;
    Request& request = requests_[process];
    const auto waits = [](const auto& thread) { return thread.load() != 0; };
    if (process == me_ || pid_namespace_ == 0 || request.pid_namespace.load() != pid_namespace_ ||
        std::none_of(std::begin(request.thread), std::end(request.thread), waits) ||
        !table.may_borrow(process, core, request.until.load()))
      continue;
    const std::int64_t since = table.lent_since(core);
    // A borrower may have been faster. This process still waits, so it does not want the core back.
    if (!table.retake_lent(core)) return false;
    // Other lenders may have bound each of these threads, or the region may have ended.
    std::int32_t thread = 0;
    for (auto place = std::begin(request.thread); thread == 0 && place != std::end(request.thread); ++place)
      thread = place->exchange(0);
    if (thread == 0) {
      table.lend(core, since);
      return false;
    }
    // The core is passed first: once bound, the thread may keep this process off the core to the end of its region. If
    // the thread has ended, the other process finds the core and returns it at the end of its region.
    table.hand_to(process, core, now);
    const bool done = node::bind_thread(thread, {os_index});
    request.given.fetch_add(1, std::memory_order_release);
    next_ = process + 1;
    return done;
  }
  return false;
}

namespace {
// Executions in a row in which cores came free, before cores are expected.
constexpr int kTrusted = decide::kFewest;
// Trust at most: after two executions without such a core in a row, none is expected, however long it was right.
constexpr int kMostTrust = 2 * kTrusted;
// Size: regions of a program. A program that generates code while it runs must not fill the memory; 2 MB here.
constexpr std::size_t kMostRegions = 4096;
}  // namespace

int LateJoinRegions::likely(std::uint64_t region, int held) const {
  const auto found = experience_.find({region, held});
  if (found == experience_.end() || found->second.trust < kTrusted || found->second.contest.next() == kWithout)
    return 0;
  return found->second.cores;
}

void LateJoinRegions::learn(std::uint64_t region, const Execution& execution) {
  const Key key{region, execution.held};
  auto found = experience_.find(key);
  if (found == experience_.end()) {
    if (execution.came == 0 || experience_.size() >= kMostRegions) return;
    found = experience_.try_emplace(key, Experience{.contest = decide::Contest(kWays, settings_)}).first;
  }
  Experience& known = found->second;
  // Late-join threads are not always possible: no core was likely, or the thread limit is too low.
  const int way = execution.late_join ? kWith : kWithout;
  if (known.contest.next() != way) known.contest.abandon();
  if (known.contest.next() == way) known.contest.measured(static_cast<double>(execution.wall));
  known.trust = std::clamp(known.trust + (execution.came > 0 ? 1 : -kTrusted), 0, kMostTrust);
  if (execution.came > 0) known.cores = execution.came;
}

}  // namespace steelyard::cores

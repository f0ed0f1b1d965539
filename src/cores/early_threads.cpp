#include "cores/early_threads.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "node/binding.h"

namespace steelyard::cores {

using node::Segment;

namespace {

// Ranks in containers of their own may share memory, and yet number their threads apart. 0 where it cannot be told.
std::uint64_t thread_namespace() {
  struct stat file = {};
  return stat("/proc/self/ns/pid", &file) == 0 ? file.st_ino : 0;
}

}  // namespace

std::size_t EarlyThreads::footprint(int processes) {
  return Segment::footprint<std::atomic<std::int32_t>>(1) + Segment::footprint<Request>(processes);
}

EarlyThreads::EarlyThreads(Segment& segment, int processes, int me)
    : names_(thread_namespace()),
      open_(segment.carve<std::atomic<std::int32_t>>(1)),
      requests_(segment.carve<Request>(processes)),
      processes_(processes),
      me_(me) {
  requests_[me].names.store(names_);
}

void EarlyThreads::meet(int thread) {
  static thread_local const std::int32_t id = gettid();
  if (thread < kMostKnown) known_[thread].store(id, std::memory_order_relaxed);
}

void EarlyThreads::ask(int first_thread, int count, const std::vector<int>& cores, std::int64_t until) {
  Request& mine = requests_[me_];
  for (int place = 0; place < kMost; ++place) {
    const int thread = first_thread + place;
    const std::int32_t id = place < count && thread < kMostKnown ? known_[thread].load(std::memory_order_relaxed) : 0;
    placed_[place] = id != 0 && node::bind_thread(id, cores) ? id : 0;
    mine.thread[place].store(placed_[place], std::memory_order_relaxed);
  }
  mine.until.store(until, std::memory_order_relaxed);
  mine.wanted.store(std::min(count, kMost));
  first_.store(first_thread, std::memory_order_relaxed);
  open_->fetch_add(1);
  asking_ = true;
}

bool EarlyThreads::come(int thread, const std::vector<int>& cores) {
  const int place = thread - first_.load(std::memory_order_relaxed);
  if (place >= kMost || thread >= kMostKnown) return false;
  meet(thread);
  const std::int32_t id = known_[thread].load(std::memory_order_relaxed);
  if (id == placed_[place]) return true;
  node::bind_this_thread(cores);
  requests_[me_].thread[place].store(id);
  return true;
}

void EarlyThreads::withdraw() {
  if (!asking_) return;
  asking_ = false;
  open_->fetch_sub(1);
  first_.store(std::numeric_limits<int>::max(), std::memory_order_relaxed);
  requests_[me_].wanted.store(0);
  for (auto& thread : requests_[me_].thread) thread.store(0);
}

bool EarlyThreads::give(CoreTable& table, int core, int os_index) {
  for (int step = 1; step < processes_; ++step) {
    const int process = (me_ + step) % processes_;
    Request& request = requests_[process];
    if (request.wanted.load() <= 0 || request.names.load() != names_ || names_ == 0) continue;
    const auto here = std::find_if(std::begin(request.thread), std::end(request.thread),
                                   [](const auto& thread) { return thread.load() != 0; });
    if (here == std::end(request.thread) || !table.borrow_for(process, core, request.until.load())) continue;
    // The region may have ended meanwhile. Then its process finds a core more in use, and gives it back as any other.
    if (const std::int32_t thread = here->exchange(0); thread != 0) {
      request.wanted.fetch_sub(1);
      node::bind_thread(thread, {os_index});
    }
    request.given.fetch_add(1, std::memory_order_release);
    return true;
  }
  return false;
}

namespace {
// Twice in succession is no accident; a region that was wrong about it has to show it twice again.
constexpr int kTrusted = 2;
constexpr int kMostTrust = 4;
// A program has fewer regions that are long enough; one that makes code as it runs does not fill the memory.
constexpr std::size_t kMostRegions = 4096;
}  // namespace

int EarlyRegions::likely(std::uint64_t region) const {
  const auto found = experience_.find(region);
  return found == experience_.end() || found->second.trust < kTrusted ? 0 : found->second.cores;
}

void EarlyRegions::learn(std::uint64_t region, int came_free) {
  const auto found = experience_.find(region);
  if (came_free == 0) {
    if (found != experience_.end()) found->second.trust = std::max(0, found->second.trust - kTrusted);
    return;
  }
  if (found == experience_.end() && experience_.size() >= kMostRegions) return;
  Experience& experience = experience_[region];
  experience.trust = std::min(kMostTrust, experience.trust + 1);
  experience.cores = came_free;
}

}  // namespace steelyard::cores
